// Notes on a customer: what the next person should know, and problems that the customer reported.
import { Badge, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { notePages } from '../../api/queries/customers.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { shownTime } from '../../parts/days.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';

export function Notes({ partyNumber }: { partyNumber: number }) {
  const { t } = useTranslation();
  return (
    <>
      {mayUse('notes:write') && (
        <Group mb="sm">
          <ActionDialog
            label={t('notes.new')}
            fields={{
              text: { label: t('notes.text'), kind: 'long', required: true },
              kind: {
                label: t('collections.kind'),
                kind: 'choice',
                choices: ['Note', 'Problem'].map((value) => ({
                  value,
                  label: t(`notes.${value}`),
                })),
              },
            }}
            send={({ text = '', kind }) =>
              api.makeNotes({
                notes: [{ partyNumber, text, kind: kind === 'Problem' ? 'Problem' : 'Note' }],
              })
            }
          />
        </Group>
      )}
      <List
        pages={notePages(partyNumber)}
        label={t('notes.title')}
        rowKey={(note) => note.noteID ?? 0}
        empty={<Empty title={t('notes.none')}>{t('notes.noneHint')}</Empty>}
        columns={[
          { key: 'at', label: t('notes.at'), show: (note) => shownTime(note.createdAt) },
          { key: 'by', label: t('notes.by'), show: (note) => note.createdBy },
          {
            key: 'kind',
            label: t('collections.kind'),
            text: (note) => note.kind,
            show: ({ kind = '' }) => <Badge variant="light">{t(`notes.${kind}`)}</Badge>,
          },
          {
            key: 'text',
            label: t('notes.text'),
            text: (note) => note.text,
            show: (note) => (
              <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
                {note.text}
              </Text>
            ),
          },
        ]}
      />
    </>
  );
}
