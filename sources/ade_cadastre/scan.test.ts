/**
 * Compares the scanner with a real XML parser. Documents are damaged and cut at random. A strict parser must accept every document that the scanner
 * accepts, with the same values. This test has its own parser, which collects the events of saxes and uses no code of the source.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { MappaleError } from '../../pipelines/errors.ts';
import { RowWriter } from '../../pipelines/formats/copy.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import type { Random } from '../../pipelines/synthetic/region.ts';
import { GmlDocument, type Problem } from './document.ts';
import { featureColumns } from './feature-columns.ts';
import { ParcelScanner } from './scan.ts';
import { Refusal } from './strict.ts';
import { tables } from './tables.ts';

const fixture = (name: string): Buffer => readFileSync(fileURLToPath(new URL(`./fixture/${name}.gml`, import.meta.url)));

interface Outcome {
  /** COPY bytes of the table as a hexadecimal text, so that a test compares two strings. */
  readonly parcels: string;
  readonly sheets: string;
  readonly rows: number;
  readonly problems: readonly (Omit<Problem, 'raw'> & { readonly raw: string })[];
  readonly records: number;
  readonly members: number;
  readonly truncated: boolean;
  /** Code of the error that stopped the reading. */
  readonly error: string | null;
}

interface RunOptions {
  readonly fast?: boolean;
  readonly memberBytes?: number;
  /** Returns the size of the next chunk. By default, the whole document is one chunk. */
  readonly chunk?: () => number;
}

function run(bytes: Buffer, { fast = true, chunk, memberBytes }: RunOptions = {}): Outcome {
  const taken: Record<'parcels' | 'sheets', Buffer[]> = { parcels: [], sheets: [] };
  const parcels = new RowWriter(tables.raw_parcel, (piece) => taken.parcels.push(piece));
  const sheets = new RowWriter(tables.raw_sheet, (piece) => taken.sheets.push(piece));
  const document = new GmlDocument({ at: 'test', fast, ...(memberBytes === undefined ? {} : { memberBytes }) });
  let error: string | null = null;
  try {
    let opened = false;
    for (let at = 0; at < bytes.length;) {
      const size = chunk?.() ?? bytes.length;
      document.push(bytes.subarray(at, at + size));
      at += size;
      if (document.root === null) continue;
      if (!opened) document.open({ parcels, sheets, fileBelfiore: 'Z001', columns: featureColumns({ added: () => undefined }, 'x.gml') });
      opened = true;
      document.process();
    }
    document.finish();
  } catch (thrown) {
    if (!(thrown instanceof MappaleError) && !(thrown instanceof Refusal)) throw thrown;
    error = thrown.code;
  }
  parcels.flush();
  sheets.flush();
  return {
    parcels: Buffer.concat(taken.parcels).toString('hex'), sheets: Buffer.concat(taken.sheets).toString('hex'), rows: parcels.rows + sheets.rows,
    problems: document.problems.map((problem) => ({ ...problem, raw: problem.raw.toString('latin1') })),
    records: document.records, members: document.members, truncated: document.truncated, error,
  };
}

/** Returns the reference and the rings (longitude, latitude) of each member, or null if the document is not valid UTF-8 or not well-formed. */
function plainReading(bytes: Buffer): { reference: string; rings: number[][] }[] | null {
  const members: { reference: string; rings: number[][] }[] = [];
  const parser = new SaxesParser({ xmlns: true });
  let path: string[] = [];
  let text = '';
  parser.on('opentag', ({ local, uri }) => {
    path.push(local);
    text = '';
    if (path.length === 2 && local === 'member' && uri === 'http://www.opengis.net/wfs/2.0') members.push({ reference: '', rings: [] });
  });
  parser.on('text', (piece) => (text += piece));
  parser.on('cdata', (piece) => (text += piece));
  parser.on('closetag', ({ local }) => {
    const member = members.at(-1);
    if (path[1] === 'member' && member !== undefined) {
      if (local === 'NATIONALCADASTRALREFERENCE' || local === 'NATIONALCADASTRALZONINGREFERENCE') member.reference = text;
      if (local === 'posList') {
        const numbers = text.trim().split(/\s+/).map(Number);
        member.rings.push(numbers.flatMap((value, index) => (index % 2 === 0 ? [numbers[index + 1]!, value] : [])));
      }
    }
    path = path.slice(0, -1);
    text = '';
  });
  try {
    parser.write(new TextDecoder('utf-8', { fatal: true }).decode(bytes)).close();
    return members;
  } catch {
    return null;
  }
}

/** Returns the byte offset, the reference and the rings of each COPY row, in order. These values are in the second, the third and the last field. */
function copied(hex: string): { position: number; reference: string; rings: number[][] }[] {
  const bytes = Buffer.from(hex, 'hex');
  const rows = [];
  for (let at = 0; at < bytes.length;) {
    const fields: Buffer[] = [];
    const count = bytes.readInt16BE(at);
    at += 2;
    for (let i = 0; i < count; i += 1) {
      const size = Math.max(0, bytes.readInt32BE(at));
      fields.push(bytes.subarray(at + 4, at + 4 + size));
      at += 4 + size;
    }
    const ewkb = fields.at(-1)!;
    const rings: number[][] = [];
    let to = 13;
    for (let polygons = ewkb.readUInt32LE(9); polygons > 0; polygons -= 1) {
      let left = ewkb.readUInt32LE(to + 5);
      to += 9;
      for (; left > 0; left -= 1) {
        const values = ewkb.readUInt32LE(to) * 2;
        rings.push(Array.from({ length: values }, (_, i) => ewkb.readDoubleLE(to + 4 + i * 8)));
        to += 4 + values * 8;
      }
    }
    expect(to).toBe(ewkb.length);
    rows.push({ position: Number(fields[1]!.readBigInt64BE()), reference: fields[2]!.toString(), rings });
  }
  return rows;
}

const SNIPPETS = [
  '<', '>', '&', '"', "'", '/', '=', ';', ']]>', '<!--', '-->', '<![CDATA[', '<?', '?>', '&amp;', '&#49;', '&#0;', '&x;', '\u0000', '\u0001', '\t', '\n', ' ', '\u00a0', 'à',
  '<wfs:member>', '</wfs:member>', '<wfs:member', '<gml:exterior>', '</gml:posList>', '/>', ' x="1"', ' gml:id="y"', ' q:x="1"', ' xmlns:gml="z"', ' xmlns:CP=""', '<CP:LABEL>', '<q/>',
  '<!-- c -->', '0', '9', '.', '-', 'e5', 'A', 'Z001_', 'urn:ogc', '<!DOCTYPE a>', '</wfs:FeatureCollection>', '\u2028',
].map((text) => Buffer.from(text)).concat(Buffer.from([0xff]), Buffer.from([0xc3]), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from([0xef, 0xbf, 0xbe]));

function damage(bytes: Buffer, random: Random): Buffer {
  let damaged = bytes;
  for (let edits = 1 + random.below(3); edits > 0; edits -= 1) {
    const at = random.below(damaged.length);
    const until = Math.min(damaged.length, at + 1 + random.below(random.below(10) === 0 ? 2000 : 6));
    const [before, cut, after] = [damaged.subarray(0, at), damaged.subarray(at, until), damaged.subarray(until)];
    switch (random.below(5)) {
      case 0:
        damaged = Buffer.concat([before, after]);
        break;
      case 1:
        damaged = Buffer.concat([before, cut, cut, after]);
        break;
      case 2: {
        damaged = Buffer.from(damaged);
        damaged[at] = random.below(256);
        break;
      }
      case 3: {
        damaged = Buffer.from(damaged);
        damaged[at]! ^= 1 << random.below(8);
        break;
      }
      default:
        damaged = Buffer.concat([before, random.pick(SNIPPETS), cut, after]);
    }
  }
  return damaged;
}

const HEADS = ['parcels', 'multisurface-with-one-polygon-and-hole', 'labels-with-letters', 'one-line', 'sheets', 'entities-comments-and-other-spellings', 'other-prefixes', 'crlf-and-no-indentation', 'numbers-of-other-lengths'];

describe('a damaged document', () => {
  it.each(HEADS)('gives the rows of a strict parser or reports a problem: %s', (name) => {
    const whole = fixture(name);
    let damagedDocuments = 0;
    for (let seed = 0; seed < 400; seed += 1) {
      const random = randomOf('damage', name, seed);
      const bytes = damage(whole, random);
      const fast = run(bytes);
      const because = `${name}, seed ${seed}`;
      // The strict path alone must give the same rows and rejects for each member.
      expect(run(bytes, { fast: false }), because).toEqual(fast);
      const { error, problems, truncated } = fast;
      const reading = plainReading(bytes);
      if (reading === null) {
        damagedDocuments += 1;
        expect(error !== null || truncated || problems.length > 0, `${because}: the scanner accepted a document that is not well-formed, and reported no problem`).toBe(true);
        continue;
      }
      if (error !== null) continue;
      expect(fast.records, because).toBe(fast.rows + problems.length);
      expect(fast.members, because).toBe(reading.length);
      // Every row must equal a member of the document, with the same reference and coordinates and in the same order. The strict path pads short rings.
      const rows = [...copied(fast.parcels), ...copied(fast.sheets)].sort((a, b) => a.position - b.position);
      let next = 0;
      for (const { reference, rings } of rows) {
        const padded = ({ rings: own }: { rings: number[][] }): number[][] =>
          own.map((ring) => (ring.length < 8 ? [...ring, ...Array.from({ length: (8 - ring.length) / 2 }, () => ring.slice(-2)).flat()] : ring));
        while (next < reading.length && (reading[next]!.reference !== reference || JSON.stringify(padded(reading[next]!)) !== JSON.stringify(rings))) next += 1;
        expect(next, `${because}: the strict parser does not find the member ${reference}`).toBeLessThan(reading.length);
        next += 1;
      }
    }
    expect(damagedDocuments).toBeGreaterThan(50);
  });

  // A label occurs in five places, which must agree. Damage in only one place is detected even without the scanner's check of characters.
  it('gives the strict parser\'s result if the same byte or snippet is inserted in all five copies of a label', () => {
    const text = fixture('parcels').toString('latin1');
    const parts: Buffer[] = [...Array.from({ length: 256 }, (_, byte) => Buffer.from([byte])), ...SNIPPETS];
    let refused = 0;
    for (const part of parts) {
      for (const label of [Buffer.concat([part]), Buffer.concat([Buffer.from('2'), part]), Buffer.concat([Buffer.from('2'), part, Buffer.from('b')])]) {
        const said = label.toString('latin1');
        const bytes = Buffer.from(text.replaceAll('Z001_000100.2', () => `Z001_000100.${said}`).replace('<CP:LABEL>2<', () => `<CP:LABEL>${said}<`), 'latin1');
        const because = `label ${JSON.stringify(said)}`;
        const fast = run(bytes);
        expect(run(bytes, { fast: false }), because).toEqual(fast);
        const reading = plainReading(bytes);
        if (reading === null) {
          refused += 1;
          expect(fast.error !== null || fast.truncated || fast.problems.length > 0, because).toBe(true);
        } else if (fast.error === null) {
          const references = reading.map(({ reference }) => reference);
          expect(copied(fast.parcels).filter(({ reference }) => !references.includes(reference)), because).toEqual([]);
        }
      }
    }
    expect(refused).toBeGreaterThan(200);
  });

  it('contains the bytes of each rejected part at the reported position', () => {
    for (let seed = 0; seed < 500; seed += 1) {
      const bytes = damage(fixture('parcels'), randomOf('places', seed));
      const { error, problems } = run(bytes);
      if (error !== null) continue;
      for (const { position, raw, code } of problems) {
        if (code !== 'count_contradicts_header') expect(raw === bytes.toString('latin1', position, position + raw.length), `seed ${seed}, ${code}`).toBe(true);
      }
    }
  });
});

describe('a document in chunks', () => {
  it.each([...HEADS, 'broken-between-members', 'invalid-token-in-gml-id', 'comment-never-closed', 'not-utf8', 'geometry-quirks', 'truncated-in-member', 'content-after-document', 'byte-order-mark', 'prologue-malformed', 'other-prefixes-and-invalid-token'])(
    'gives the same result for any chunk size down to one byte: %s',
    (name) => {
      const bytes = fixture(name);
      const whole = run(bytes);
      expect(run(bytes, { chunk: () => 1 })).toEqual(whole);
      for (let seed = 0; seed < 40; seed += 1) {
        const random = randomOf('chunks', name, seed);
        const most = random.pick([2, 20, 200, 2000]);
        expect(run(bytes, { chunk: () => 1 + random.below(most) }), `seed ${seed}`).toEqual(whole);
      }
    },
  );

  it('gives the same result for chunks of any size if the document is damaged', () => {
    for (let seed = 0; seed < 400; seed += 1) {
      const random = randomOf('damaged chunks', seed);
      const bytes = damage(fixture(random.pick(HEADS)), random);
      expect(run(bytes, { chunk: () => 1 + random.below(400) }), `seed ${seed}`).toEqual(run(bytes));
    }
  });

  it('is read completely, with each member once, if the document is longer than the buffer', () => {
    const text = fixture('parcels').toString();
    const open = text.indexOf('    <wfs:member>');
    const close = text.lastIndexOf('</wfs:FeatureCollection>');
    const members = text.slice(open, close);
    const many = text.slice(0, open).replace(/number(Matched|Returned)="3"/g, 'number$1="6000"') + members.repeat(2000) + text.slice(close);
    const random = randomOf('long');
    const { rows, problems, records } = run(Buffer.from(many), { chunk: () => 1 + random.below(400_000) });
    expect({ rows, problems, records }).toEqual({ rows: 6000, problems: [], records: 6000 });
  });
});

describe('a member above the maximum length', () => {
  const text = fixture('parcels').toString();
  const long = text.replace('<CP:LABEL>2<', `<CP:LABEL>2${' '.repeat(20_000)}<`);

  it.each([1, 100, 5000, 1_000_000])('is rejected, and the next member is read (chunks of %i bytes)', (size) => {
    const { problems, rows, records } = run(Buffer.from(long), { memberBytes: 8000, chunk: () => size });
    if (size > 8000) {
      // The limit does not apply to a member that arrives in one chunk. Such a member is rejected because of its content.
      expect(problems.map(({ code }) => code)).toEqual(['reference_contradicts_label']);
    } else expect(problems.map(({ code }) => code)).toEqual(['member_too_large']);
    expect(problems[0]!.position).toBe(text.indexOf('<wfs:member>', text.indexOf('<wfs:member>') + 1));
    expect({ rows, records }).toEqual({ rows: 2, records: 3 });
  });
});

describe('other content above the maximum length', () => {
  const text = fixture('parcels').toString();
  const at = text.indexOf('<wfs:member>', text.indexOf('<wfs:member>') + 1);
  const filler = ' '.repeat(20_000);

  it.each([
    ['a comment', `<!--${filler}-->`, 'the comment'], ['a processing instruction', `<?note ${filler}?>`, 'the processing instruction'],
    ['an element that is not a member', `<wfs:boundedBy>${filler}</wfs:boundedBy>`, 'wfs:boundedBy'],
  ])('is rejected and does not count as a member if it is %s', (_kind, content, named) => {
    const { problems, ...outcome } = run(Buffer.from(text.slice(0, at) + content + text.slice(at)), { memberBytes: 8000, chunk: () => 100 });
    expect(problems).toMatchObject([{ position: at, code: 'xml_malformed', message: expect.stringContaining(`the end of ${named} within 8000 bytes`) as string }]);
    expect(outcome).toMatchObject({ rows: 3, records: 4, members: 3, truncated: false, error: null });
  });
});

describe('numbers', () => {
  /** Returns a document with one parcel. The ring of the parcel consists of the given `lat lon` pairs and is closed with the first pair. */
  function documentOf(pairs: readonly string[]): Buffer {
    return Buffer.from(fixture('wfs-answer-of-one-parcel').toString().replace(/(<gml:posList srsDimension="2">)[^<]*/, `$1${[...pairs, pairs[0]].join(' ')} `));
  }

  it('are rounded like JavaScript\'s `Number`, with up to 19 decimals', () => {
    for (let seed = 0; seed < 300; seed += 1) {
      const random = randomOf('numbers', seed);
      const number = (least: number, most: number): string => {
        const whole = least + random.below(most - least);
        const decimals = random.below(4) === 0 ? random.below(20) : 8;
        return decimals === 0 ? String(whole) : `${whole}.${Array.from({ length: decimals }, () => random.below(10)).join('')}`;
      };
      const pairs = Array.from({ length: 50 }, () => `${number(35, 47)} ${number(6, 19)}`);
      const { parcels, problems } = run(documentOf(pairs));
      expect(problems).toEqual([]);
      const [row] = copied(parcels);
      const expected = [...pairs, pairs[0]!].flatMap((pair) => pair.split(' ').map(Number).reverse());
      expect(row!.rings, `seed ${seed}`).toEqual([expected]);
    }
  });

  it('are read without the strict parser if they have the publisher\'s eight decimals', () => {
    const random = randomOf('eight decimals');
    const pairs = Array.from({ length: 500 }, () => `${(35 + random.next() * 12).toFixed(8)} ${(6 + random.next() * 12).toFixed(8)}`);
    const bytes = documentOf(pairs);
    const rows: Buffer[] = [];
    const writer = new RowWriter(tables.raw_parcel, (piece) => rows.push(piece));
    const scanner = new ParcelScanner(writer, null);
    scanner.use(bytes);
    const from = bytes.indexOf('<wfs:member>');
    const end = bytes.indexOf('</wfs:member>') + '</wfs:member>'.length;
    expect(scanner.scan(from, end, 0)).toBe(end);
    writer.flush();
    expect(copied(Buffer.concat(rows).toString('hex'))[0]!.rings).toEqual([[...pairs, pairs[0]!].flatMap((pair) => pair.split(' ').map(Number).reverse())]);
  });
});

describe('the scanner', () => {
  it.each(['parcels', 'multisurface-with-one-polygon-and-hole', 'crlf-and-no-indentation', 'one-line', 'sections-a-and-b'])('reads every member of %s without the strict parser', (name) => {
    const bytes = fixture(name);
    const writer = new RowWriter(tables.raw_parcel, () => undefined);
    const scanner = new ParcelScanner(writer, 'Z001');
    scanner.use(bytes);
    const members = bytes.toString().split('<wfs:member>').length - 1;
    let at = bytes.indexOf('<wfs:member>');
    for (let i = 0; i < members; i += 1) {
      at = scanner.scan(at, bytes.length, 0);
      expect(at).toBeGreaterThan(0);
    }
    expect(writer.rows).toBe(members);
  });

  it('leaves a member whose label contains an entity to the strict parser, and removes the partial row', () => {
    const bytes = fixture('entities-comments-and-other-spellings');
    const writer = new RowWriter(tables.raw_parcel, () => undefined);
    const scanner = new ParcelScanner(writer, 'Z001');
    scanner.use(bytes);
    expect(scanner.scan(bytes.indexOf('<wfs:member>'), bytes.length, 0)).toBe(-1);
    expect({ rows: writer.rows, length: writer.length }).toEqual({ rows: 0, length: 0 });
  });
});
