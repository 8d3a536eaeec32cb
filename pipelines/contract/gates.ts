/** Finds the gates of all published tables, both core tables and tables of sections. */
import { CORE_GATES } from '../../sql/core/gates.ts';
import type { TableGate, Unwatched } from './gate.ts';
import type { Table } from './section.ts';
import { SECTIONS } from './sections.ts';
import type { Relation } from './sql-files.ts';

/** Builds the gate of a section's table, column by column. */
function gateOfTable(section: string, { columns }: Table): TableGate {
  const gates = Object.entries(columns).map(([name, { gate }]) => ({ name, gate }));
  return {
    section, by: 'fid',
    fields: Object.fromEntries(gates.flatMap(({ name, gate }) => (typeof gate === 'object' ? [[name, gate]] : []))),
    excused: Object.fromEntries(gates.flatMap(({ name, gate }) => (typeof gate === 'string' ? [[name, gate]] : []))),
  };
}

export const GATES: Readonly<Record<Relation, TableGate | Unwatched>> = {
  ...CORE_GATES,
  ...Object.fromEntries(SECTIONS.flatMap(({ name, tables }) => Object.entries(tables).map(([relation, table]) => [relation, gateOfTable(name, table)]))),
};

/** Returns the gate of a table; null for a table without a gate. @throws Error for an undeclared table, which is a bug */
export function gateOf(relation: Relation): TableGate | null {
  const gate = GATES[relation];
  if (gate === undefined) throw new Error(`${relation} is declared neither in sql/core/gates.ts nor in a section`);
  return 'unwatched' in gate ? null : gate;
}
