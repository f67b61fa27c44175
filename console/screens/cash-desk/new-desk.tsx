// Opens a cash desk.
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { ledgerAccountsQuery } from '../../api/queries/ledger.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';

export function NewDesk() {
  const { t } = useTranslation();
  const { data: accounts = [] } = useQuery(ledgerAccountsQuery);
  const usable = accounts.filter((one) => one.kind === 'Asset' && one.isControl === 0);
  return (
    <ActionDialog
      label={t('cashDesk.new')}
      fields={{
        code: { label: t('cashDesk.code'), hint: t('cashDesk.codeHint'), required: true },
        name: { label: t('cashDesk.name'), required: true },
        cashAccountID: {
          label: t('cashDesk.account'),
          kind: 'choice',
          choices: usable.map((one) => ({
            value: String(one.ledgerAccountID),
            label: `${one.accountCode} · ${one.name}`,
          })),
        },
      }}
      send={({ code = '', name = '', cashAccountID }) =>
        api.makeCashDesks({ cashDesks: [{ code, name, cashAccountID: Number(cashAccountID) }] })
      }
    />
  );
}
