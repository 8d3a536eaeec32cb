/** Returns rows as text with aligned columns. Columns of numbers are right-aligned. Numbers contain thousands separators. */
export function textTable(rows: readonly (readonly (string | number | null)[])[], header: readonly string[]): string {
  const cells = [header, ...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en-US') : cell ?? '')))];
  const padded = header.map((_, column) => {
    const width = Math.max(...cells.map((row) => row[column]?.length ?? 0));
    const isNumber = rows.length > 0 && rows.every((row) => row[column] === null || typeof row[column] === 'number');
    return (cell: string): string => (isNumber ? cell.padStart(width) : cell.padEnd(width));
  });
  return cells.map((row) => padded.map((pad, column) => pad(row[column] ?? '')).join('  ').trimEnd()).join('\n');
}
