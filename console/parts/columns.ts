// The columns of a list, and what a list is given.
import type { ReactNode } from 'react';
import type { Pages } from '../api/queries/base.ts';

export type Column<Row> = {
  key: string;
  label: string;
  isFigure?: boolean;
  /** Its cells may be as narrow as their words. */
  isNarrow?: boolean;
  show: (row: Row) => ReactNode;
  /** For the file, where `show` is more than words. */
  text?: (row: Row) => string | number | null | undefined;
  /** An amount that is added up below the list. */
  sum?: (row: Row) => number;
  /** The sums are shown for each of these words too. */
  groups?: (row: Row) => string;
};

export type ListProps<Row> = {
  pages: Pages<Row>;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string | number;
  /** Read aloud for the table, and the name of its file. */
  label: string;
  empty: ReactNode;
  /** Beside the count: what can be done with the list. */
  tools?: ReactNode;
};

export type Order = { key: string; isDown: boolean };

export type Ordering<Row> = {
  order: Order | null;
  choose: (key: string) => void;
  /** A row of the list: what its columns hold says which of them have an order. */
  sample: Row | undefined;
};
