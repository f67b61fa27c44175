// One file of the bank: its balances, its lines by status, and the lines that need a person.
import { SegmentedControl, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { bankFileQuery, bankLinePages } from '../../api/queries/bank.ts';
import { isolated } from '../../language/isolated.ts';
import { Money } from '../../parts/amount.tsx';
import { shownTime } from '../../parts/days.ts';
import { Figures } from '../../parts/figures.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { BankLines } from './bank-lines.tsx';

const statuses = ['Received', 'Suggested', 'Unmatched', 'Posted', 'Ignored', 'Duplicate'] as const;

export function BankFile() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const bankFileID = Number(useParams({ from: '/inside/bank/$bankFileID' }).bankFileID);
  const { status } = useSearch({ from: '/inside/bank/$bankFileID' });
  const query = useQuery(bankFileQuery(bankFileID));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const file = query.data;
  const chosen = statuses.find((one) => one === status);
  return (
    <Page
      title={file.fileName ?? t('bank.fileTitle', { number: bankFileID })}
      crumbs={[{ label: t('bank.title'), to: '/bank' }]}
      hint={`${isolated(shownTime(file.createdAt))} · ${file.createdBy ?? ''}`}
    >
      {(file.statements ?? []).map((one) => (
        <div key={one.statementID}>
          <Figures
            items={[
              { label: t('bank.statement'), value: one.statementID },
              { label: t('bank.opening'), value: <Money value={one.openingBalance ?? 0} /> },
              { label: t('bank.closing'), value: <Money value={one.closingBalance ?? 0} /> },
              { label: t('bank.lines'), value: one.lines },
            ]}
          />
          <Text size="sm">{one.isProven === 1 ? t('bank.proven') : t('bank.notProven')}</Text>
        </div>
      ))}
      <SegmentedControl
        aria-label={t('bank.byStatus')}
        value={chosen ?? 'All'}
        onChange={(value) =>
          navigate({
            to: '/bank/$bankFileID',
            params: { bankFileID: String(bankFileID) },
            search: value === 'All' ? {} : { status: value },
          })
        }
        data={['All', ...statuses].map((value) => ({ value, label: t(`status.${value}`) }))}
      />
      <BankLines pages={bankLinePages({ bankFileID, status: chosen })} />
    </Page>
  );
}
