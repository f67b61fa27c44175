// The head of a list. Pressing the name of a column puts the list in its order.
import { Table, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Column, Ordering } from './columns.ts';
import { isSortable } from './sorting.ts';

type Props<Row> = {
  columns: readonly Column<Row>[];
  /** Left out where the list is too long to be put in order, and on paper. */
  ordering: Ordering<Row> | undefined;
};

export function Head<Row>({ columns, ordering }: Props<Row>) {
  return (
    <Table.Thead>
      <Table.Tr>
        {columns.map((column) => (
          <HeadCell key={column.key} column={column} ordering={ordering} />
        ))}
      </Table.Tr>
    </Table.Thead>
  );
}

function HeadCell<Row>({
  column,
  ordering,
}: {
  column: Column<Row>;
  ordering: Ordering<Row> | undefined;
}) {
  const { t } = useTranslation();
  const { key, label, isFigure } = column;
  const look = isFigure ? 'figure' : '';
  if (!ordering || !isSortable(column, ordering.sample)) {
    return <Table.Th className={look}>{label}</Table.Th>;
  }
  const order = ordering.order?.key === key ? ordering.order : null;
  const Arrow = order?.isDown ? IconArrowDown : IconArrowUp;
  return (
    <Table.Th
      className={look}
      {...(order ? { 'aria-sort': order.isDown ? 'descending' : 'ascending' } : {})}
    >
      <UnstyledButton
        fz="inherit"
        fw="inherit"
        title={t('table.sort', { column: label })}
        onClick={() => ordering.choose(key)}
      >
        {label}
        {order && <Arrow size={14} aria-hidden style={{ verticalAlign: 'middle' }} />}
      </UnstyledButton>
    </Table.Th>
  );
}
