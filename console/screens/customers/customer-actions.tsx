// What can be changed about a customer: details, a new subscription, money back, a pause of dunning.
import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog, type FieldSpec } from '../../parts/action-dialog.tsx';
import { contactsWith, mobileOf } from '../../parts/contacts.ts';
import { EditDialog } from '../../parts/edit-dialog.tsx';
import { FormerActions } from './former.tsx';
import { NewSubscription } from './new-subscription.tsx';

type Party = DataOf<'getUsers'>['user'];

/** There is something to pay, and something to pay it with. */
function canSettle({ walletAccount, outstandingAccount }: Party): boolean {
  return walletAccount.balance > 0 && outstandingAccount.balance > 0;
}

export function CustomerActions({ party }: { party: Party }) {
  const { t } = useTranslation();
  if (party.archiveStatus !== 0) return mayUse('parties:write') && <FormerActions party={party} />;
  return (
    <>
      {mayUse('parties:write') && <Edit party={party} />}
      {mayUse('subscriptions:write') && <NewSubscription partyID={party.partyID} />}
      {mayUse('payments:write') && canSettle(party) && (
        <ActionDialog
          label={t('customer.settle')}
          effect={<Text size="sm">{t('customer.settleEffect')}</Text>}
          fields={{}}
          send={() => api.settleWallet({ data: { partyID: party.partyID } })}
        />
      )}
      {mayUse('payments:manage') && party.walletAccount.balance > 0 && <Refund party={party} />}
      {mayUse('parties:write') && mayUse('collections:write') && <PauseDunning party={party} />}
      {mayUse('parties:write') && <FormerActions party={party} />}
    </>
  );
}

type PartyField = 'name' | 'email' | 'mobile' | 'taxNumber' | 'street' | 'city' | 'language';

/** The fields of a party that most people need; the API has more. */
function partyFields(t: TFunction, party?: Party): Record<PartyField, FieldSpec> {
  return {
    name: { label: t('customers.name'), initial: party?.name ?? '', required: true },
    email: { label: t('customers.email'), initial: party?.email ?? '' },
    mobile: { label: t('customers.mobile'), initial: mobileOf(party?.contacts ?? []) },
    taxNumber: { label: t('customers.taxNumber'), initial: party?.taxNumber ?? '' },
    street: { label: t('customers.street'), initial: party?.address?.street ?? '' },
    city: { label: t('customers.city'), initial: party?.address?.city ?? '' },
    language: {
      label: t('customers.language'),
      kind: 'choice',
      initial: party?.language ?? '',
      choices: [
        { value: '', label: t('customers.ownLanguage') },
        ...['en', 'ur', 'ar', 'hi'].map((value) => ({ value, label: t(`languageName.${value}`) })),
      ],
    },
  };
}

type Typed = { [key in PartyField]: string | undefined };

/** All contacts but the first mobile number stay as they are. */
function partyFrom(typed: Typed, party?: Party) {
  const { name = '', email, mobile, taxNumber, street, city, language } = typed;
  const contacts = contactsWith(party?.contacts ?? [], mobile ?? '');
  return {
    name,
    email: email ?? null,
    taxNumber: taxNumber ?? null,
    language: language ?? null,
    ...(contacts ? { contacts } : {}),
    address: { ...party?.address, street: street ?? null, city: city ?? null },
  };
}

export function NewCustomer() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return (
    <ActionDialog
      label={t('customers.new')}
      variant="filled"
      fields={partyFields(t)}
      send={(typed) => api.makeUsers({ userType: 'customer', users: [partyFrom(typed)] })}
      onDone={async ({ headers }) => {
        const partyID = Number(headers.get('x-resource-id'));
        const [made] = (await api.listUsers({ partyID })).data.users;
        const params = { partyNumber: String(made?.partyNumber) };
        await navigate({ to: '/customers/$partyNumber', params });
      }}
    />
  );
}

function Edit({ party }: { party: Party }) {
  const { t } = useTranslation();
  const { partyNumber } = party;
  return (
    <EditDialog
      label={t('customer.edit')}
      object={party}
      fieldsOf={(one) => partyFields(t, one)}
      load={async () => (await api.getUsers({ partyNumber })).data.user}
      send={(typed, seen) =>
        api.updateUser({ user: { partyNumber, ts: seen.ts, ...partyFrom(typed, seen) } })
      }
    />
  );
}

const methods = ['Cash', 'Bank', 'Cheque'] as const;

function Refund({ party: { partyID, walletAccount } }: { party: Party }) {
  const { t } = useTranslation();
  return (
    <ActionDialog
      label={t('customer.refund')}
      effect={<Text size="sm">{t('customer.refundEffect')}</Text>}
      fields={{
        amount: {
          label: t('bills.amount'),
          kind: 'amount',
          initial: String(walletAccount.balance),
          required: true,
        },
        paymentMethod: {
          label: t('payments.method'),
          kind: 'choice',
          choices: methods.map((value) => ({ value, label: t(`method.${value}`) })),
        },
        remark: { label: t('payments.remark') },
      }}
      send={({ amount = '', paymentMethod, remark }, reference) => {
        const method = methods.find((one) => one === paymentMethod) ?? 'Cash';
        const data = { partyID, amount, reference, paymentMethod: method, remark };
        return api.refundPayment({ data });
      }}
    />
  );
}

function PauseDunning({ party }: { party: Party }) {
  const { t } = useTranslation();
  const { partyNumber, dunningHold } = party;
  if (dunningHold) {
    return (
      <ActionDialog
        label={t('customer.resumeDunning')}
        effect={
          <Text size="sm">
            {t('collections.holdUntil', dunningHold)} {dunningHold.reason}
          </Text>
        }
        fields={{}}
        send={() => api.updateUser({ user: { partyNumber, dunningHold: null } })}
      />
    );
  }
  return (
    <ActionDialog
      label={t('customer.pauseDunning')}
      fields={{
        until: { label: t('to'), kind: 'date', required: true },
        reason: { label: t('reason'), required: true },
      }}
      send={({ until = '', reason = '' }) =>
        api.updateUser({ user: { partyNumber, dunningHold: { until, reason } } })
      }
    />
  );
}
