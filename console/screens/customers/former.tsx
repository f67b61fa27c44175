// A customer who has left: archived, restored, and erased for good at the customer's request.
import { Alert, List, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { keptQuery } from '../../api/queries/customers.ts';
import { settingsQuery } from '../../api/queries/settings.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { Loading } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';

type Party = DataOf<'getUsers'>['user'];
type Props = { party: Party };

export function FormerActions({ party }: Props) {
  const { t } = useTranslation();
  const { partyNumber, archiveStatus, ts } = party;
  if (archiveStatus === 0) {
    return (
      <ActionDialog
        label={t('former.archive')}
        effect={<Text size="sm">{t('former.archiveEffect')}</Text>}
        fields={{}}
        send={() => api.updateUser({ user: { partyNumber, archiveStatus: 1, ts } })}
      />
    );
  }
  if (party.erasedOn !== null) return null;
  return (
    <>
      <ActionDialog
        label={t('former.restore')}
        effect={<Text size="sm">{t('former.restoreEffect')}</Text>}
        fields={{}}
        send={() => api.updateUser({ user: { partyNumber, archiveStatus: 0, ts } })}
      />
      {mayUse('parties:erase') && (
        <DialogButton label={t('former.erase')} variant="default" size="lg">
          {(close) => <Erase party={party} onDone={close} />}
        </DialogButton>
      )}
    </>
  );
}

/** Says that the customer has left, and what can still be done. */
export function FormerNotice({ party: { archiveStatus, erasedOn } }: Props) {
  const { t } = useTranslation();
  if (archiveStatus === 0) return null;
  const title = erasedOn === null ? t('former.archived') : t('former.erased', { date: erasedOn });
  return (
    <Alert color="gray" title={title}>
      {t(erasedOn === null ? 'former.archivedHint' : 'former.erasedHint')}
    </Alert>
  );
}

const gone = ['facts', 'accounts', 'logins', 'notes', 'notices'] as const;

function Erase({ party, onDone }: Props & { onDone: () => void }) {
  const { t } = useTranslation();
  const { partyNumber, ts } = party;
  const form = useForm({ initialValues: { reason: '', typed: '' } });
  const { typed } = form.values;
  const isRight = typed.trim() === String(partyNumber);
  return (
    <SendForm
      form={form}
      send={({ reason }) => api.eraseParty({ user: { partyNumber, reason: reason.trim(), ts } })}
      action={t('former.eraseAction', { name: party.name })}
      colour="red"
      isReady={isRight}
      onDone={onDone}
    >
      <Text size="sm" fw={600}>
        {t('former.gone')}
      </Text>
      <List size="sm">
        {gone.map((what) => (
          <List.Item key={what}>{t(`former.gone_${what}`)}</List.Item>
        ))}
      </List>
      <Kept party={party} />
      <Text size="sm">{t('former.elsewhere')}</Text>
      <Textarea
        label={t('reason')}
        description={t('former.reasonHint')}
        required
        autosize
        minRows={2}
        data-autofocus
        {...form.getInputProps('reason')}
      />
      <TextInput
        label={t('former.type', { number: partyNumber })}
        required
        inputMode="numeric"
        {...form.getInputProps('typed')}
        error={typed !== '' && !isRight ? t('former.otherNumber') : undefined}
      />
    </SendForm>
  );
}

/** What the law on accounts wants kept, and why. */
function Kept({ party: { partyID } }: Props) {
  const { t } = useTranslation();
  const kept = useQuery(keptQuery(partyID));
  const settings = useQuery({ ...settingsQuery, enabled: mayUse('settings:read') });
  if (kept.isPending) return <Loading />;
  const years = settings.data?.documentRetentionYears;
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {t('former.kept')}
      </Text>
      <List size="sm">
        <List.Item>{t('former.keptBills', { count: kept.data?.bills ?? 0 })}</List.Item>
        <List.Item>{t('former.keptPayments', { count: kept.data?.payments ?? 0 })}</List.Item>
        {years !== undefined && (
          <List.Item>{t('former.keptDocuments', { count: years })}</List.Item>
        )}
        <List.Item>{t('former.keptAudit')}</List.Item>
      </List>
    </Stack>
  );
}
