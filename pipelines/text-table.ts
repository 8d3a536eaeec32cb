/** Tables that people read. */

/** Plain columns, numbers to the right. */
export function textTable(rows: readonly (readonly (string | number | null)[])[], header: readonly string[]): string {
  const cells = [header, ...rows.map((row) => row.map((cell) => (cell === null ? '' : typeof cell === 'number' ? cell.toLocaleString('en-US') : cell)))];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const isNumber = header.map((_, column) => rows.length > 0 && rows.every((row) => row[column] === null || typeof row[column] === 'number'));
  return cells.map((row) => row.map((cell, column) => (isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))).join('  ').trimEnd()).join('\n');
}
