/**
 * Parses one GML document from chunks of any size: the prologue, the members, then the epilogue. Each member becomes a row or a reported problem.
 * Unexpected content outside the members becomes a problem or an error. If a member is not well-formed, the next member is still read. The publisher's
 * files contain such members, and the other members of the same file are valid.
 */
import { inputError } from '../../pipelines/contract/source.ts';
import { isXmlMisc, XmlElementParser, XmlError, XmlPrologueParser, type Place, type XmlElement, type XmlRoot } from '../../pipelines/formats/xml.ts';
import { isSpace, ParcelScanner } from './scan.ts';
import { NAMESPACES, Refusal, writeMember, type Rows } from './strict.ts';

/**
 * Maximum length in bytes of a member whose end has not arrived, enough for a million positions. The longest parcels (roads of a large comune) have several
 * hundred KiB.
 */
const MEMBER_BYTES = 32 * 1024 * 1024;
/** Number of bytes after which an incomplete prologue, or an incomplete end tag between the members, is reported as malformed. */
const PROLOGUE_BYTES = 65_536;
/** Maximum length of an element's name in bytes. */
const NAME_BYTES = 256;
/** Maximum number of bytes kept of a member or comment that is too long, and of content after the root element. */
const EXCERPT_BYTES = 65_536;
const FIRST_BYTES = 1024 * 1024;

const START: Place = { line: 1, column: 1 };

export interface Root {
  /** Name of the root element as written, such as `wfs:FeatureCollection`. */
  readonly name: string;
  /** Name of the element `wfs:member` in this document. If `usual` is false, the prefix is the prefix of the root element, which may be empty. */
  readonly memberName: string;
  /** True if the prefixes `wfs`, `gml` and `CP` have the publisher's namespaces. The scanner supports no other prefixes. */
  readonly usual: boolean;
  /** URI of each prefix. `''` is the prefix of the default namespace. */
  readonly namespaces: Readonly<Record<string, string>>;
  /** The document up to the root's start tag, as published. */
  readonly text: string;
  /** Value of the attribute; null if the attribute is missing or not a number, such as `unknown`. */
  readonly numberMatched: number | null;
  readonly numberReturned: number | null;
}

/** Part of a document that cannot be used. */
export interface Problem {
  /** Byte offset in the document. */
  readonly position: number;
  readonly code: string;
  readonly message: string;
  readonly raw: Buffer;
  /** Line and column of the problem, relative to `position`. */
  readonly place: Place;
}

interface DocumentOptions {
  /** Name of the document in errors. */
  readonly at: string;
  /** If false, every member is read by the strict parser. For tests. */
  readonly fast?: boolean;
  /** Maximum length of a member in bytes, which replaces `MEMBER_BYTES`. For tests. */
  readonly memberBytes?: number;
}

/** An element whose end tag has not arrived yet. All offsets are relative to the start of the document. */
interface Unfinished {
  readonly position: number;
  readonly parser: XmlElementParser;
  /** Offset after the last byte that the parser has received. */
  fed: number;
  /** Number of UTF-16 code units that the parser has received. */
  units: number;
  /** Offset at which the search for the end tag continues. */
  searched: number;
}

/** Kind of broken content, which determines where the broken content ends. See `#setAside`. */
type Content = 'member' | 'other';

type State = 'prologue' | 'members' | 'skipping' | 'epilogue';

export class GmlDocument {
  readonly #at: string;
  readonly #fast: boolean;
  readonly #memberBytes: number;
  #state: State = 'prologue';
  /** Kind of the content that the state `skipping` skips. */
  #skipped: Content = 'member';
  #prologue: XmlPrologueParser | null = new XmlPrologueParser();
  #rows: Rows | null = null;
  #scanner: ParcelScanner | null = null;
  #buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** Index of the first byte that is not processed yet. */
  #start = 0;
  #end = 0;
  /** Offset of the buffer's first byte in the document. */
  #origin = 0;
  /** End of the last complete member in the buffer; at most `#start` if the buffer contains no complete member. */
  #limit = 0;
  /** The element at `#start`, which is parsed as far as its bytes have arrived. */
  #unfinished: Unfinished | null = null;
  /** True if the last byte of the document has arrived. */
  #isComplete = false;
  #memberName: Buffer = Buffer.alloc(0);
  #memberOpen: Buffer = Buffer.alloc(0);
  #memberClose: Buffer = Buffer.alloc(0);
  #rootClose: Buffer = Buffer.alloc(0);
  root: Root | null = null;
  /** Number of records: the rows, and the members and other parts that became problems. */
  records = 0;
  /** Number of start tags of members. */
  members = 0;
  /** True if the document ended before the end tag of the root element. */
  truncated = false;
  /** Problems that the caller has not removed yet. The caller removes the problems after each call of `process` and after `finish`. */
  problems: Problem[] = [];

  constructor(options: DocumentOptions) {
    this.#at = options.at;
    this.#fast = options.fast !== false;
    this.#memberBytes = options.memberBytes ?? MEMBER_BYTES;
  }

  /**
   * Appends bytes to the buffer. `process` reads the members in the buffer.
   * @throws Refusal if the prologue is not well-formed or has no root element within `PROLOGUE_BYTES`. Input error `ROOT_UNEXPECTED` if the root element is not
   *   a feature collection, `XML_UNEXPECTED` if the document is not XML 1.0 in UTF-8 without DOCTYPE
   */
  push(chunk: Uint8Array): void {
    this.#append(chunk);
    if (this.#prologue !== null) this.#readPrologue(this.#prologue);
  }

  /** Sets the target of the rows. Call before `process`. */
  open(rows: Rows): void {
    this.#rows = rows;
    this.#scanner = new ParcelScanner(rows.parcels, rows.fileBelfiore);
    this.#scanner.use(this.#buffer);
  }

  /**
   * Reads the complete members in the buffer.
   * @throws input errors `COLUMNS_CHANGED`, `SRS_UNEXPECTED`, `ELEMENT_UNEXPECTED`, `RESPONSE_TRUNCATED`
   */
  process(): void {
    for (;;) {
      if (this.#state === 'members' && this.#scanner !== null && this.#fast && this.root?.usual === true) this.#scanMembers(this.#scanner);
      if (this.#state === 'prologue' || !this.#step()) break;
    }
  }

  /**
   * Processes the rest of the document, and compares the number of members with `numberReturned`. Call after the last chunk.
   * @throws Refusal `document_truncated` if the document has no root element; input errors of `process`
   */
  finish(): void {
    if (this.#prologue !== null) throw new Refusal('document_truncated', 'expected a GML document, found its end before the root element', START);
    this.#isComplete = true;
    this.process();
    if (this.#state !== 'epilogue') {
      this.truncated = true;
      return;
    }
    this.#rows?.columns.parcels.end();
    this.#rows?.columns.sheets.end();
    const { numberReturned } = this.#known(this.root);
    if (numberReturned !== null && numberReturned !== this.members) {
      this.report('count_contradicts_header', `expected ${numberReturned} members as numberReturned says, found ${this.members}`);
    }
  }

  /** Reports a problem that concerns the whole document. The problem counts as one record. */
  report(code: string, message: string): void {
    this.records += 1;
    this.problems.push({ position: 0, code, message, raw: Buffer.from(this.root?.text ?? ''), place: START });
  }

  #append(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#buffer.length) this.#makeRoom(chunk.length);
    const before = this.#end;
    this.#buffer.set(chunk, before);
    this.#end += chunk.length;
    if (this.#memberClose.length > 0) this.#findLimit(before);
  }

  /** Finds the last complete member among the new bytes. */
  #findLimit(from: number): void {
    const begin = Math.max(this.#start, from - this.#memberClose.length);
    const found = this.#buffer.subarray(begin, this.#end).lastIndexOf(this.#memberClose);
    if (found >= 0) this.#limit = begin + found + this.#memberClose.length;
  }

  #makeRoom(bytes: number): void {
    const kept = this.#end - this.#start;
    const needed = kept + bytes;
    if (needed * 2 > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed + EXCERPT_BYTES, Math.min(this.#buffer.length * 2, this.#memberBytes + FIRST_BYTES)));
      this.#buffer.copy(grown, 0, this.#start, this.#end);
      this.#buffer = grown;
      this.#scanner?.use(grown);
    } else this.#buffer.copyWithin(0, this.#start, this.#end);
    this.#origin += this.#start;
    this.#limit = Math.max(0, this.#limit - this.#start);
    this.#start = 0;
    this.#end = kept;
  }

  #readPrologue(parser: XmlPrologueParser): void {
    try {
      this.#start += parser.write(this.#buffer.subarray(this.#start, this.#end));
    } catch (error) {
      if (!(error instanceof XmlError)) throw error;
      throw malformed(error, 'a GML document');
    }
    if (parser.root === null) {
      if (this.#origin + this.#start > PROLOGUE_BYTES) throw new Refusal('xml_malformed', `expected the root element within ${PROLOGUE_BYTES} bytes, found none`, START);
      return;
    }
    this.#prologue = null;
    this.root = rootOf(parser, parser.root, this.#at);
    this.#memberName = Buffer.from(this.root.memberName);
    this.#memberOpen = Buffer.from(`<${this.root.memberName}`);
    this.#memberClose = Buffer.from(`</${this.root.memberName}>`);
    this.#rootClose = Buffer.from(`</${this.root.name}`);
    this.#state = parser.root.isEmpty ? 'epilogue' : 'members';
    this.#findLimit(0);
  }

  /**
   * Scans the member at `at` without the additional properties. The strict parser would take many times as long for each member of a document with additional
   * properties.
   * @returns the index after the member, or −1 if the scanner does not accept the member
   */
  #scanWithout(added: ReadonlySet<string>, scanner: ParcelScanner, at: number): number {
    const close = this.#find(this.#memberClose, at);
    if (close < 0) return -1;
    const end = close + this.#memberClose.length;
    const member = without(this.#buffer.subarray(at, end), added);
    if (member === null) return -1;
    scanner.use(member);
    const scanned = scanner.scan(0, member.length, this.#origin + at);
    scanner.use(this.#buffer);
    return scanned === member.length ? end : -1;
  }

  #scanMembers(scanner: ParcelScanner): void {
    const { added, parcels } = this.#known(this.#rows).columns;
    const from = this.#start;
    let at = from;
    while (at < this.#limit) {
      let end = scanner.scan(at, this.#limit, this.#origin);
      if (end < 0 && added.size > 0) end = this.#scanWithout(added, scanner, at);
      if (end < 0) break;
      at = end;
    }
    // The scanner accepts only members that have all properties.
    if (scanner.rows > 0) parcels.complete();
    this.#start = at;
    this.#countMembers(from, at);
  }

  /**
   * Counts start tags independently of the scanner, so that a row that the scanner lost is detected. Searches for the name without the `<` before it,
   * because the first letter of the name is rarer than `<`. The search is then three times as fast.
   */
  #countMembers(from: number, until: number): void {
    const buffer = this.#buffer.subarray(0, until);
    const name = this.#memberName;
    for (let at = buffer.indexOf(name, from); at >= 0; at = buffer.indexOf(name, at + name.length)) {
      if (buffer[at - 1] !== 0x3c) continue;
      this.records += 1;
      this.members += 1;
    }
  }

  /** Reads the next element, end tag, comment or text without the scanner. @returns false if more bytes are needed or none are left */
  #step(): boolean {
    if (this.#state === 'skipping') return this.#skip();
    const buffer = this.#buffer;
    let at = this.#start;
    while (at < this.#end && isSpace(buffer[at])) at += 1;
    this.#start = at;
    if (at === this.#end) return false;
    if (this.#state === 'epilogue') return this.#epilogue(at);
    if (buffer[at] !== 0x3c) return this.#setAside(at, 'other', new Refusal('text_outside_member', 'expected wfs:member, found text', START));
    if (at + 4 > this.#end && !this.#isComplete) return false;
    switch (buffer[at + 1]) {
      case 0x2f:
        return this.#rootEnd(at);
      case 0x21:
      case 0x3f:
        return this.#comment(at);
      default:
        return this.#element(at);
    }
  }

  #rootEnd(at: number): boolean {
    const close = this.#find('>', at);
    if (close < 0) {
      if (!this.#isComplete && this.#end - at < PROLOGUE_BYTES) return false;
    } else {
      const text = this.#buffer.toString('latin1', at, close + 1);
      const name = this.#rootClose.toString('latin1');
      if (text.startsWith(name) && /^[ \t\r\n]*>$/.test(text.slice(name.length))) {
        this.#start = close + 1;
        this.#state = 'epilogue';
        return true;
      }
    }
    return this.#setAside(at, 'other', new Refusal('xml_malformed', 'expected wfs:member, found an end tag that closes nothing', START));
  }

  /** Reads a comment or a processing instruction between two members. */
  #comment(at: number): boolean {
    const buffer = this.#buffer;
    const comment = buffer[at + 1] === 0x21;
    const terminator = comment ? '-->' : '?>';
    const end = this.#find(terminator, at + (comment ? 4 : 2));
    if (end < 0 && !this.#isComplete) {
      if (this.#end - at <= this.#memberBytes) return false;
      return this.#skipFrom(at, 'other', this.#tooLong('other', comment ? 'the comment' : 'the processing instruction'));
    }
    if (end >= 0 && isXmlMisc(decodeOrEmptyTag(buffer.subarray(at, end + terminator.length)))) {
      this.#start = end + terminator.length;
      return true;
    }
    return this.#setAside(at, 'other', new Refusal('xml_malformed', 'expected wfs:member, found broken or forbidden markup', START));
  }

  /** Returns a value that must be set before the first member, by the root element or by `open`. */
  #known<T>(value: T | null): T {
    if (value === null) throw new Error(`${this.#at}: a member occurs before the document was opened`);
    return value;
  }

  /** Reads one child element of the collection: a member, the collection's `boundedBy`, or an unexpected element. */
  #element(at: number): boolean {
    const buffer = this.#buffer;
    let nameEnd = at + 1;
    while (nameEnd < this.#end && nameEnd - at < NAME_BYTES && !isSpace(buffer[nameEnd]) && buffer[nameEnd] !== 0x2f && buffer[nameEnd] !== 0x3e) nameEnd += 1;
    if (nameEnd === this.#end && !this.#isComplete) return false;
    const name = buffer.toString('latin1', at + 1, nameEnd);
    const { memberName, namespaces } = this.#known(this.root);
    const content: Content = name === memberName ? 'member' : 'other';
    const close = Buffer.from(`</${name}`, 'latin1');
    const position = this.#origin + at;
    let work = this.#unfinished;
    if (work === null || work.position !== position) {
      work = { position, parser: new XmlElementParser(namespaces, NAMESPACES), fed: position, units: 0, searched: position };
      this.#unfinished = work;
    }
    let found: ReturnType<XmlElementParser['write']> = null;
    try {
      while (found === null) {
        // Feed the parser up to each end tag with this name. The first end tag ends the element, unless the tag is inside a comment.
        const fed = work.fed - this.#origin;
        const tag = this.#find(close, work.searched - this.#origin);
        const end = tag < 0 ? -1 : this.#find('>', tag);
        if (end < 0 && !this.#isComplete) {
          if (this.#end - at > this.#memberBytes) return this.#skipFrom(at, content, this.#tooLong(content, name));
          work.searched = Math.max(work.fed, this.#origin + (tag < 0 ? this.#end - close.length : tag));
          return false;
        }
        const until = end < 0 ? this.#end : end + 1;
        if (until === fed) throw new Refusal('xml_malformed', `expected the end of ${name}, found the end of the document`, START);
        const text = decode(buffer.subarray(fed, until));
        found = work.parser.write(text);
        if (found === null) {
          work.fed += until - fed;
          work.units += text.length;
        } else work.fed += Buffer.byteLength(text.slice(0, found.length - work.units));
        work.searched = work.fed;
      }
    } catch (error) {
      const refusal = error instanceof XmlError ? malformed(error, 'well-formed XML') : error;
      if (!(refusal instanceof Refusal)) throw refusal;
      return this.#setAside(at, content, refusal);
    }
    this.#unfinished = null;
    this.#start = work.fed - this.#origin;
    return this.#take(found.element, at);
  }

  /**
   * Writes the row of the complete member at `at`, or reports the member as a problem. Ignores the `boundedBy` of the collection.
   * @throws input errors `RESPONSE_TRUNCATED`, `ELEMENT_UNEXPECTED`, and the input errors of `writeMember`
   */
  #take(element: XmlElement, at: number): true {
    if (element.name === 'wfs:member') {
      this.records += 1;
      this.members += 1;
      try {
        writeMember(element, this.#origin + at, this.#known(this.#rows), this.#at);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        this.records -= 1;
        this.#problem(at, this.#start, error.code, error.message, error.place);
      }
      return true;
    }
    if (element.name === 'wfs:boundedBy' || element.name === 'gml:boundedBy') return true;
    if (element.name === 'wfs:truncatedResponse') {
      throw inputError('the service truncated its response', {
        code: 'RESPONSE_TRUNCATED', at: this.#at, detail: `expected members, found wfs:truncatedResponse after ${this.members}`, hint: 'Request the data from the service again.',
      });
    }
    throw inputError('the collection contains an unknown element', {
      code: 'ELEMENT_UNEXPECTED', at: this.#at, detail: `expected wfs:member, found ${element.name}`, hint: 'The publisher may have changed the format. Remove the file from the folder, or report the file.',
    });
  }

  /**
   * Reports the bytes from `at` as a problem. The problem ends before the next member or before the root's end tag, whichever comes first. A member may
   * end earlier, at its own end tag.
   */
  #setAside(at: number, content: Content, refusal: Refusal): boolean {
    this.#unfinished = null;
    const isMember = content === 'member';
    const end = this.#resume(at + 1, content);
    if (end < 0 && !this.#isComplete) {
      if (this.#end - at > this.#memberBytes) return this.#skipFrom(at, content, isMember ? this.#tooLong(content, 'the member') : refusal);
      return false;
    }
    if (isMember) this.members += 1;
    const until = end < 0 ? this.#end : end;
    const truncated = end < 0 && isMember;
    this.#problem(at, until, truncated ? 'member_truncated' : refusal.code, truncated ? 'expected the end of the member, found the end of the document' : refusal.message, refusal.place);
    this.#start = until;
    return true;
  }

  /** Returns the index at which reading can continue, or −1 if the index is not known yet. */
  #resume(from: number, content: Content): number {
    const candidates: number[] = [];
    const rootEnd = this.#find(this.#rootClose, from);
    if (rootEnd >= 0) candidates.push(rootEnd);
    for (let open = this.#find(this.#memberOpen, from); open >= 0; open = this.#find(this.#memberOpen, open + 1)) {
      const next = this.#buffer[open + this.#memberOpen.length];
      if (open + this.#memberOpen.length >= this.#end || isSpace(next) || next === 0x3e || next === 0x2f) {
        candidates.push(open);
        break;
      }
    }
    if (content === 'member') {
      const close = this.#find(this.#memberClose.subarray(0, -1), from);
      const end = close < 0 ? -1 : this.#find('>', close);
      if (end >= 0 && candidates.every((other) => close < other)) return end + 1;
    }
    return candidates.length === 0 ? -1 : Math.min(...candidates);
  }

  /** Returns the refusal of content whose end has not arrived within the maximum length. @param what name of the content in the message */
  #tooLong(content: Content, what: string): Refusal {
    const kept = `(its first ${EXCERPT_BYTES} bytes are kept)`;
    return content === 'member'
      ? new Refusal('member_too_large', `expected a member of at most ${this.#memberBytes} bytes, found a longer one ${kept}`, START)
      : new Refusal('xml_malformed', `expected the end of ${what} within ${this.#memberBytes} bytes, found none ${kept}`, START);
  }

  /** Reports content that is too long. The state `skipping` then skips the rest of the content. Increments `members` only if the content is a member. */
  #skipFrom(at: number, content: Content, { code, message, place }: Refusal): boolean {
    this.#unfinished = null;
    if (content === 'member') this.members += 1;
    this.#problem(at, at + EXCERPT_BYTES, code, message, place);
    this.#start = at + 1;
    this.#state = 'skipping';
    this.#skipped = content;
    return true;
  }

  #skip(): boolean {
    const end = this.#resume(this.#start, this.#skipped);
    if (end >= 0) {
      this.#start = end;
      this.#state = 'members';
      return true;
    }
    // A tag may continue in the next chunk.
    this.#start = this.#isComplete ? this.#end : Math.max(this.#start, this.#end - NAME_BYTES);
    return false;
  }

  #epilogue(at: number): boolean {
    if (!this.#isComplete && this.#end - at <= EXCERPT_BYTES) return false;
    const rest = this.#buffer.subarray(at, this.#end);
    this.#start = this.#end;
    if (rest.length <= EXCERPT_BYTES && isXmlMisc(decodeOrEmptyTag(rest))) return false;
    this.#problem(at, Math.min(this.#end, at + EXCERPT_BYTES), 'content_after_document', 'expected nothing after the root element, found more', START);
    return false;
  }

  /** Like `indexOf`, but ignores the unused bytes at the end of the buffer. */
  #find(what: Buffer | string, from: number): number {
    return this.#buffer.subarray(0, this.#end).indexOf(what, from);
  }

  #problem(from: number, until: number, code: string, message: string, place: Place): void {
    this.records += 1;
    this.problems.push({ position: this.#origin + from, code, message, raw: Buffer.from(this.#buffer.subarray(from, until)), place });
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws Refusal `not_utf8` at the first invalid byte */
function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    let line = 1;
    let column = 1;
    // Number of bytes of an unfinished character. An invalid character may be detected only at a later byte, but the error is reported at the first byte
    // of the character.
    let pending = 0;
    try {
      for (const byte of bytes) {
        pending += 1;
        if (decoder.decode(Uint8Array.of(byte), { stream: true }) === '') continue;
        line = byte === 0x0a ? line + 1 : line;
        column = byte === 0x0a ? 1 : column + pending;
        pending = 0;
      }
    } catch {
      // Line and column are now the position of the first invalid character.
    }
    throw new Refusal('not_utf8', 'expected UTF-8, found a byte that is not', { line, column });
  }
}

/** @returns the member without the properties with these names; null if no property was removed. A property that contains elements is not removed. */
function without(member: Buffer, names: ReadonlySet<string>): Buffer | null {
  let left = member;
  for (const name of names) {
    const open = left.indexOf(`<${name}>`);
    const text = open + name.length + 2;
    const close = open < 0 ? -1 : left.indexOf('<', text);
    const end = close + name.length + 3;
    if (close < 0 || left.toString('latin1', close, end) !== `</${name}>`) continue;
    left = Buffer.concat([left.subarray(0, open), left.subarray(end)]);
  }
  return left === member ? null : left;
}

/** Decodes bytes as UTF-8. Returns `<>`, which is not well-formed XML, if the bytes are not valid UTF-8. */
function decodeOrEmptyTag(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    return '<>';
  }
}

function malformed(error: XmlError, expected: string): Refusal {
  return new Refusal('xml_malformed', `expected ${expected}, found: ${error.message}`, error.place);
}

function rootOf(prologue: XmlPrologueParser, root: XmlRoot, at: string): Root {
  const { version, encoding, hasDoctype } = prologue;
  if ((version ?? '1.0') !== '1.0' || (encoding ?? 'utf-8').toLowerCase() !== 'utf-8' || hasDoctype) {
    throw inputError('the document is not in a supported form of XML', {
      code: 'XML_UNEXPECTED',
      at,
      detail: `expected XML 1.0 in UTF-8 without DOCTYPE, found ${version ?? '1.0'} in ${encoding ?? 'UTF-8'}${hasDoctype ? ' with DOCTYPE' : ''}`,
      hint: 'Either the publisher changed the format, or the file is another document. Convert the file to UTF-8 without DOCTYPE.',
    });
  }
  if (root.uri !== NAMESPACES.wfs || root.local !== 'FeatureCollection') {
    throw inputError('the document is not a collection of features', {
      code: 'ROOT_UNEXPECTED',
      at,
      detail: `expected {${NAMESPACES.wfs}}FeatureCollection, found {${root.uri}}${root.local}`,
      hint: 'The service may have returned an error page. Open the file to see its content, and download it again.',
    });
  }
  const { namespaces } = root;
  const usual = Object.entries(NAMESPACES).every(([prefix, uri]) => namespaces[prefix] === uri);
  const prefix = usual ? 'wfs' : root.name.slice(0, -'FeatureCollection'.length).replace(':', '');
  const count = (name: string): number | null => {
    const value = root.attributes.get(name);
    return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : null;
  };
  return {
    name: root.name,
    memberName: prefix === '' ? 'member' : `${prefix}:member`,
    usual,
    namespaces,
    text: prologue.text,
    numberMatched: count('numberMatched'),
    numberReturned: count('numberReturned'),
  };
}
