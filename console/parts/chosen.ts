// The rows of a list that a person has chosen for one action.
import { useState } from 'react';

export function useChosen<Row>(idOf: (row: Row) => number) {
  const [rows, setRows] = useState<ReadonlyMap<number, Row>>(new Map());
  const choose = (some: readonly Row[]) =>
    setRows(new Map(some.map((row) => [idOf(row), row] as const)));
  const toggle = (row: Row) => {
    const next = new Map(rows);
    if (!next.delete(idOf(row))) next.set(idOf(row), row);
    setRows(next);
  };
  return { chosen: [...rows.values()], has: (row: Row) => rows.has(idOf(row)), choose, toggle };
}
