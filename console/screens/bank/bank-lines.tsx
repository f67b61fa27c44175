// Lines of bank files, and the choice of the payer where the program could not be certain.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import type { Pages } from '../../api/queries/base.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Amount } from '../../parts/amount.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Refusal } from '../../parts/notes.tsx';
import { useSend } from '../../parts/send-form.tsx';
import { Status } from '../../parts/status.tsx';

type Line = DataOf<'getBankLines'>['lines'][number];
type Suggestion = NonNullable<Line['suggestions']>[number];

export function BankLines({ pages }: { pages: Pages<Line> }) {
  const { t } = useTranslation();
  return (
    <List
      pages={pages}
      label={t('bank.lines')}
      rowKey={(line) => line.bankLineID ?? 0}
      empty={<Empty title={t('bank.noLine')}>{t('bank.noLineHint')}</Empty>}
      columns={[
        { key: 'date', label: t('payments.date'), show: (line) => line.date },
        {
          key: 'amount',
          label: t('bills.amount'),
          isFigure: true,
          text: (line) => line.amount,
          sum: ({ amount = 0 }) => amount,
          show: ({ amount = 0 }) => <Amount value={amount} />,
        },
        { key: 'payer', label: t('bank.payer'), show: (line) => line.payer },
        {
          key: 'text',
          label: t('bank.text'),
          show: (line) => [line.reference, line.text].filter(Boolean).join(' · '),
        },
        {
          key: 'status',
          label: t('terms.status'),
          text: (line) => line.status,
          groups: ({ status = '' }) => t(`status.${status}`, { defaultValue: status }),
          show: ({ status = '' }) => <Status value={status} />,
        },
        { key: 'decision', label: t('bank.payerChosen'), show: (line) => <Decision line={line} /> },
      ]}
    />
  );
}

function Decision({ line }: { line: Line }) {
  const { t } = useTranslation();
  const { bankLineID = 0, status, suggestions = [], reason } = line;
  const isOpen = status === 'Suggested' || status === 'Unmatched';
  if (!isOpen || !mayUse('bank-files:write')) return <Text size="sm">{reason}</Text>;
  return (
    <Stack gap={4} align="flex-start">
      {suggestions.map((one) => (
        <TakeSuggestion key={one.partyNumber} bankLineID={bankLineID} suggestion={one} />
      ))}
      <Group gap={4} wrap="nowrap">
        <ActionDialog
          label={t('bank.other')}
          fields={{
            connectionNumber: { label: t('bills.subscription'), required: true },
            reason: { label: t('reason') },
          }}
          send={(typed) => api.matchBankLine({ data: { bankLineID, ...typed } })}
        />
        <ActionDialog
          label={t('bank.ignore')}
          fields={{ reason: { label: t('reason'), required: true } }}
          send={({ reason }) => api.matchBankLine({ data: { bankLineID, ignore: true, reason } })}
        />
      </Group>
    </Stack>
  );
}

function TakeSuggestion({
  bankLineID,
  suggestion,
}: {
  bankLineID: number;
  suggestion: Suggestion;
}) {
  const { t } = useTranslation();
  const { partyNumber, connectionNumber, reason } = suggestion;
  const payer = connectionNumber === null ? { partyNumber } : { connectionNumber };
  const matching = useSend(() => api.matchBankLine({ data: { bankLineID, ...payer } }));
  return (
    <>
      <Button
        size="compact-sm"
        variant="light"
        loading={matching.isPending}
        onClick={() => matching.mutate(undefined)}
      >
        {t('bank.take', { payer: connectionNumber ?? partyNumber })}
      </Button>
      <Text size="xs" c="dimmed">
        {reason}
      </Text>
      {matching.isError && <Refusal error={matching.error} />}
    </>
  );
}
