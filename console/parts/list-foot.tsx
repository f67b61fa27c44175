// Below a list: how many rows it has, their sums, and what can be done with the table.
import { ActionIcon, Button, Checkbox, Group, Menu, Table, Text, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconColumns3, IconCopy } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Pages } from '../api/queries/base.ts';
import { useSession } from '../api/session.ts';
import { Amount } from './amount.tsx';
import type { Column, ListProps } from './columns.ts';
import { copyTable, csvOf, offerFile } from './download.ts';
import { Refusal } from './notes.tsx';
import { scrolls } from './scrolls.ts';
import { addUp, everyRow, majorOf, summedOf, type Total } from './totals.ts';

type Foot<Row> = ListProps<Row> & {
  total: number;
  /** Those that are shown, of all columns. */
  visible: readonly Column<Row>[];
  hidden: ReadonlySet<string>;
  onHide: (hidden: ReadonlySet<string>) => void;
};

export function ListFoot<Row>(props: Foot<Row>) {
  const { pages, label, tools, total, visible } = props;
  const { t } = useTranslation();
  const copying = useMutation({
    mutationFn: () => copyTable(pages, visible),
    onSuccess: (count) =>
      notifications.show({
        message: t('table.copied', { count }),
        color: 'teal',
        closeButtonProps: { 'aria-label': t('close') },
      }),
  });
  const saving = useMutation({
    mutationFn: () => csvOf(pages, visible),
    onSuccess: (lines) => offerFile(`${label}.csv`, lines),
  });
  const refused = copying.error ?? saving.error;
  return (
    <>
      <Group justify="space-between" align="flex-start">
        <Text size="sm" c="dimmed">
          {t('inAll', { count: total })}
        </Text>
        <Group gap="xs" className="no-print">
          {tools}
          <ColumnChoice {...props} />
          {window.isSecureContext && (
            <Tooltip label={t('table.copy')}>
              <ActionIcon
                variant="default"
                size={30}
                aria-label={t('table.copy')}
                loading={copying.isPending}
                onClick={() => copying.mutate()}
              >
                <IconCopy size={16} />
              </ActionIcon>
            </Tooltip>
          )}
          <Button
            size="xs"
            variant="default"
            loading={saving.isPending}
            onClick={() => saving.mutate()}
          >
            {t('asCsv')}
          </Button>
        </Group>
      </Group>
      {refused && <Refusal error={refused} />}
    </>
  );
}

/** The last column that is shown cannot be hidden. */
function ColumnChoice<Row>({ columns, visible, hidden, onHide }: Foot<Row>) {
  const { t } = useTranslation();
  const toggle = (key: string) => {
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    onHide(next);
  };
  return (
    <Menu closeOnItemClick={false} position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label={t('table.columns')}>
          <IconColumns3 size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {columns.map(({ key, label }) => {
          const isShown = !hidden.has(key);
          return (
            <Menu.Item
              key={key}
              role="menuitemcheckbox"
              aria-checked={isShown}
              disabled={isShown && visible.length === 1}
              onClick={() => toggle(key)}
              leftSection={
                <Checkbox.Indicator size="xs" checked={isShown} aria-hidden component="span" />
              }
            >
              {label}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Sums of a list that is in the page as a whole. */
export function WholeSums<Row>({
  rows,
  columns,
}: {
  rows: Row[];
  columns: readonly Column<Row>[];
}) {
  const decimals = useSession()?.currencyDecimals ?? 2;
  return <Sums totals={addUp([], rows, { columns, decimals })} columns={columns} />;
}

/** A longer list is read to its end first, when the person asks for it. */
export function LongSums<Row>({
  pages,
  columns,
  total,
}: {
  pages: Pages<Row>;
  columns: readonly Column<Row>[];
  total: number;
}) {
  const { t } = useTranslation();
  const decimals = useSession()?.currencyDecimals ?? 2;
  const [totals, setTotals] = useState<Total[] | null>(null);
  const [isAdding, setAdding] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const add = async () => {
    setAdding(true);
    setError(null);
    let made: Total[] = [];
    try {
      for await (const rows of everyRow(pages)) {
        made = addUp(made, rows, { columns, decimals });
        setTotals(made);
      }
    } catch (refused) {
      setError(refused);
    }
    setAdding(false);
  };
  if (summedOf(columns).summed.length === 0) return null;
  return (
    <>
      {error !== null && <Refusal error={error} onRetry={add} />}
      {totals === null ? (
        <Group className="no-print">
          <Button size="xs" variant="default" loading={isAdding} onClick={add}>
            {t('table.add', { count: total })}
          </Button>
        </Group>
      ) : (
        <>
          {isAdding && (
            <Text size="sm" role="status">
              {t('table.adding', { done: totals[0]?.rows ?? 0, total })}
            </Text>
          )}
          <Sums totals={totals} columns={columns} />
        </>
      )}
    </>
  );
}

function Sums<Row>({
  totals,
  columns,
}: {
  totals: readonly Total[];
  columns: readonly Column<Row>[];
}) {
  const { t } = useTranslation();
  const decimals = useSession()?.currencyDecimals ?? 2;
  const { summed, by } = summedOf(columns);
  const [all, ...groups] = totals;
  if (summed.length === 0 || all === undefined) return null;
  const shown = groups.length > 1 ? groups : [];
  return (
    <Table.ScrollContainer minWidth={280} type="native" {...scrolls(t('table.total'))}>
      <Table aria-label={t('table.total')} w="auto" ms="auto">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{by && shown.length > 0 ? by.label : t('table.total')}</Table.Th>
            <Table.Th className="figure">{t('table.rows')}</Table.Th>
            {summed.map(({ key, label }) => (
              <Table.Th key={key} className="figure">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {[...shown, all].map(({ name, rows, sums }) => (
            <Table.Tr key={name} fw={name === '' ? 700 : 400}>
              <Table.Td>{name === '' ? t('table.total') : name}</Table.Td>
              <Table.Td className="figure">{rows}</Table.Td>
              {summed.map(({ key }, index) => (
                <Table.Td key={key} className="figure">
                  <Amount value={majorOf(sums[index] ?? 0n, decimals)} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
