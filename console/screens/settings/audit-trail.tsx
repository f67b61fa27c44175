// Every change: the login, what it changed, when, and the values before and after.
import { Group, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { auditPages } from '../../api/queries/admin.ts';
import { Changes } from '../../parts/changes.tsx';
import { shownTime, toWire } from '../../parts/days.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';

const nothing = { subject: '', subjectID: '', actor: '', fromDate: '', toDate: '' };

export function AuditTrail() {
  const { t } = useTranslation();
  const [typed, setTyped] = useState(nothing);
  const [filter] = useDebouncedValue(typed, 300);
  const days = { fromDate: toWire(filter.fromDate), toDate: toWire(filter.toDate) };
  const asked = Object.fromEntries(
    Object.entries({ ...filter, ...days }).filter(([, value]) => value !== ''),
  );
  return (
    <Stack>
      <Group align="flex-end">
        {(Object.keys(nothing) as (keyof typeof nothing)[]).map((name) => (
          <TextInput
            key={name}
            size="xs"
            type={name.endsWith('Date') ? 'date' : 'text'}
            label={t(`audit.${name}`)}
            value={typed[name]}
            onChange={({ currentTarget: { value } }) => setTyped({ ...typed, [name]: value })}
          />
        ))}
      </Group>
      <List
        pages={auditPages(asked)}
        columns={[
          { key: 'at', label: t('audit.at'), show: (entry) => shownTime(entry.at) },
          { key: 'actor', label: t('audit.actor'), show: (entry) => entry.actor },
          { key: 'operation', label: t('audit.operation'), show: (entry) => entry.operation },
          {
            key: 'subject',
            label: t('audit.subject'),
            show: (entry) => `${entry.subject} ${entry.subjectID}`,
          },
          { key: 'address', label: t('audit.address'), show: (entry) => entry.address },
          {
            key: 'changes',
            label: t('audit.changes'),
            text: (entry) => entry.requestID,
            show: (entry) => (
              <DialogButton
                label={t('audit.see')}
                title={`${entry.subject} ${entry.subjectID}`}
                size="xl"
                variant="default"
              >
                {() => (
                  <Changes before={entry.before} after={entry.after} label={t('audit.changes')} />
                )}
              </DialogButton>
            ),
          },
        ]}
        rowKey={(entry) => `${entry.requestID} ${entry.subject} ${entry.subjectID}`}
        label={t('settings.tabs.audit')}
        empty={<Empty title={t('audit.none')} />}
      />
    </Stack>
  );
}
