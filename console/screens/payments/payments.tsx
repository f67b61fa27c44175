// Payments, newest first, and a form to take one.
import { useTranslation } from 'react-i18next';
import { paymentPages } from '../../api/queries/payments.ts';
import { mayUse } from '../../api/session.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { paymentColumns } from '../../parts/payment-columns.tsx';
import { TakePayment } from '../../parts/take-payment.tsx';

export function Payments() {
  const { t } = useTranslation();
  return (
    <Page
      title={t('payments.title')}
      actions={mayUse('payments:write') && <TakePayment partyNumber={null} />}
    >
      <List
        pages={paymentPages({})}
        label={t('payments.title')}
        rowKey={(payment) => payment.paymentID ?? 0}
        empty={<Empty title={t('payments.none')}>{t('payments.noneHint')}</Empty>}
        columns={paymentColumns(t)}
      />
    </Page>
  );
}
