// Ways back: the posting of a term is taken back, or the whole term is cancelled.
import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { readyIn } from '../../api/queries/terms.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { useMoney } from '../../parts/amount.tsx';

type TermData = DataOf<'getBillTerm'>;

export function UndoStep({ term, summary }: Pick<TermData, 'term' | 'summary'>) {
  const { t } = useTranslation();
  const { money } = useMoney();
  const { termID, status, stage } = term;
  const reason = { label: t('reason'), kind: 'long', required: true } as const;
  if (status === 'Open' && mayUse('terms:manage')) {
    return (
      <ActionDialog
        label={t('undo.cancel')}
        colour="red"
        effect={<Text size="sm">{t('undo.cancelEffect')}</Text>}
        fields={{ reason }}
        send={({ reason = '' }) =>
          api.cancelTerm({ operation: 'schedule', data: { termID, reason } })
        }
      />
    );
  }
  // Published bills are with the customers: those are cancelled one by one.
  const isPosted = status === 'Posted' && (stage === 'Posted' || stage === 'Publishing');
  if (!isPosted || !mayUse('bills:post')) return null;
  const { bills, charges } = readyIn(summary);
  return (
    <ActionDialog
      label={t('undo.unpost')}
      action={t('undo.unpostConfirm', { bills, sum: money(charges) })}
      colour="red"
      effect={<Text size="sm">{t('undo.unpostEffect')}</Text>}
      fields={{ reason }}
      send={({ reason = '' }) =>
        api.unpostBills({ operation: 'schedule', data: { termID, reason } })
      }
    />
  );
}
