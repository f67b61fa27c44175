// The customer's details and how bills come; a problem is reported here.
import { Card, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../sdk/client.ts';
import { api } from '../api/client.ts';
import { ownNotePages, ownPartyQuery } from '../api/queries/portal.ts';
import { useSession } from '../api/session.ts';
import { ActionDialog, type FieldSpec, type Typed } from '../parts/action-dialog.tsx';
import { contactsWith, mobileOf } from '../parts/contacts.ts';
import { shownTime } from '../parts/days.ts';
import { EditDialog } from '../parts/edit-dialog.tsx';
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
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
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
  const { partyNumber } = party;
  return (
    <Card withBorder>
      <Stack gap={4} align="flex-start">
        <Text fw={600}>{party.name}</Text>
        <Text size="sm">{party.email}</Text>
        <Text size="sm" dir="ltr">
          {mobileOf(party.contacts)}
        </Text>
        <EditDialog
          label={t('portal.change')}
          object={party}
          fieldsOf={(one) => ownFields(t, one)}
          load={async () => (await api.getUsers({ partyNumber })).data.user}
          send={(typed, seen) => api.updateOwnDetails({ data: changed(typed, seen) })}
        />
      </Stack>
    </Card>
  );
}

type OwnField = 'mobile' | 'language' | 'channel';

function ownFields(t: TFunction, party: Party): Record<OwnField, FieldSpec> {
  return {
    mobile: { label: t('customers.mobile'), initial: mobileOf(party.contacts) },
    language: {
      label: t('customers.language'),
      kind: 'choice',
      initial: party.language ?? '',
      choices: [
        { value: '', label: t('portal.usualLanguage') },
        ...['en', 'ur', 'ar', 'hi'].map((value) => ({ value, label: t(`languageName.${value}`) })),
      ],
    },
    channel: {
      label: t('portal.channel'),
      kind: 'choice',
      initial: channelOf(party),
      choices: [
        { value: '', label: usualChannel(t, party) },
        ...channels.map((value) => ({ value, label: t(`portal.by${value}`) })),
      ],
    },
  };
}

/** The only channel of the customer; empty if the supplier decides, or if there are several. */
function channelOf({ deliveryChannels }: Party): string {
  const [only = '', second] = deliveryChannels ?? [];
  return second === undefined && channels.some((one) => one === only) ? only : '';
}

function usualChannel(t: TFunction, party: Party): string {
  const own = party.deliveryChannels ?? [];
  if (own.length === 0 || channelOf(party) !== '') return t('portal.usualChannel');
  return t('portal.sameChannels', { channels: own.map((one) => t(`channel.${one}`)).join(', ') });
}

/** What the customer left as it was is not sent. */
function changed(typed: Typed<OwnField>, seen: Party) {
  const contacts = contactsWith(seen.contacts, typed.mobile ?? '');
  const language = typed.language ?? null;
  const channel = typed.channel ?? '';
  const deliveryChannel = channels.find((one) => one === channel) ?? null;
  return {
    ts: seen.ts,
    ...(contacts ? { contacts } : {}),
    ...(language === seen.language ? {} : { language }),
    ...(channel === channelOf(seen) ? {} : { deliveryChannel }),
  };
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
