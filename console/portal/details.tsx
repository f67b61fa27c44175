// The customer's details and how bills come; a problem is reported here.
import { Card, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../sdk/client.ts';
import { api } from '../api/client.ts';
import { ownNotePages, ownPartyQuery } from '../api/queries/portal.ts';
import { useSession } from '../api/session.ts';
import { ActionDialog } from '../parts/action-dialog.tsx';
import { shownTime } from '../parts/days.ts';
import { List } from '../parts/list.tsx';
import { Empty, Loading, Refusal } from '../parts/notes.tsx';
import { usePageTitle } from '../parts/page.tsx';

const channels = ['Email', 'Print', 'Portal'] as const;
type Party = DataOf<'getUsers'>['user'];

export function PortalDetails() {
  const { t } = useTranslation();
  const partyNumber = useSession()?.user.partyNumber ?? 0;
  const query = useQuery(ownPartyQuery(partyNumber));
  usePageTitle(t('portal.details'));
  if (query.isPending) return <Loading />;
  if (query.isError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  return (
    <Stack>
      <Title order={1} size="h3">
        {t('portal.details')}
      </Title>
      <Own party={query.data} />
      <Problems partyNumber={partyNumber} />
    </Stack>
  );
}

function Own({ party }: { party: Party }) {
  const { t } = useTranslation();
  const mobile = party.contacts.find((one) => one.contactType === 'Mobile')?.contactValue ?? '';
  const others = party.contacts.filter((one) => one.contactType !== 'Mobile');
  return (
    <Card withBorder>
      <Stack gap={4} align="flex-start">
        <Text fw={600}>{party.name}</Text>
        <Text size="sm">{party.email}</Text>
        <Text size="sm" dir="ltr">
          {mobile}
        </Text>
        <ActionDialog
          label={t('portal.change')}
          fields={{
            mobile: { label: t('customers.mobile'), initial: mobile },
            language: {
              label: t('customers.language'),
              kind: 'choice',
              initial: party.language ?? '',
              choices: ['en', 'ur', 'ar', 'hi'].map((value) => ({
                value,
                label: t(`languageName.${value}`),
              })),
            },
            channel: {
              label: t('portal.channel'),
              kind: 'choice',
              initial: String(party.deliveryChannels?.[0] ?? 'Email'),
              choices: channels.map((value) => ({ value, label: t(`portal.by${value}`) })),
            },
          }}
          send={({ mobile: typed, language, channel }) => {
            const own = typed ? [{ contactType: 'Mobile', contactValue: typed }] : [];
            return api.updateOwnDetails({
              data: {
                contacts: [...others, ...own],
                language,
                deliveryChannel: channels.find((one) => one === channel),
                ts: party.ts,
              },
            });
          }}
        />
      </Stack>
    </Card>
  );
}

function Problems({ partyNumber }: { partyNumber: number }) {
  const { t } = useTranslation();
  return (
    <Card withBorder>
      <Stack align="flex-start">
        <Title order={2} size="h4">
          {t('portal.problems')}
        </Title>
        <ActionDialog
          label={t('portal.report')}
          fields={{ text: { label: t('portal.problem'), kind: 'long', required: true } }}
          send={({ text = '' }) =>
            api.makeNotes({ notes: [{ partyNumber, kind: 'Problem', text }] })
          }
        />
      </Stack>
      <List
        pages={ownNotePages}
        label={t('portal.problems')}
        rowKey={(note) => note.noteID ?? 0}
        empty={<Empty title={t('portal.noProblem')} />}
        columns={[
          { key: 'at', label: t('notes.at'), show: (note) => shownTime(note.createdAt) },
          { key: 'text', label: t('portal.problem'), show: (note) => note.text },
        ]}
      />
    </Card>
  );
}
