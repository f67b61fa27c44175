// Files of the bank: imported here; what could not be matched is worked off in each file.

import { Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { bankFilePages, bankLinePages } from '../../api/queries/bank.ts';
import { mayUse } from '../../api/session.ts';
import { shownTime } from '../../parts/days.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { BankLines } from './bank-lines.tsx';
import { ImportFile } from './import-file.tsx';
import { NewMapping } from './new-mapping.tsx';

export function BankFiles() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return (
    <Page
      title={t('bank.title')}
      hint={t('bank.hint')}
      actions={
        mayUse('bank-files:write') && (
          <>
            <NewMapping />
            <ImportFile
              onDone={(bankFileID) =>
                navigate({ to: '/bank/$bankFileID', params: { bankFileID: String(bankFileID) } })
              }
            />
          </>
        )
      }
    >
      <Tabs defaultValue="files" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="files">{t('bank.files')}</Tabs.Tab>
          <Tabs.Tab value="Suggested">{t('status.Suggested')}</Tabs.Tab>
          <Tabs.Tab value="Unmatched">{t('status.Unmatched')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="files" pt="sm">
          <Files />
        </Tabs.Panel>
        <Tabs.Panel value="Suggested" pt="sm">
          <BankLines pages={bankLinePages({ status: 'Suggested' })} />
        </Tabs.Panel>
        <Tabs.Panel value="Unmatched" pt="sm">
          <BankLines pages={bankLinePages({ status: 'Unmatched' })} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Files() {
  const { t } = useTranslation();
  return (
    <List
      pages={bankFilePages}
      label={t('bank.files')}
      rowKey={(file) => file.bankFileID ?? 0}
      empty={<Empty title={t('bank.none')}>{t('bank.noneHint')}</Empty>}
      columns={[
        {
          key: 'name',
          label: t('bank.file'),
          text: (file) => file.fileName,
          show: (file) => (
            <PageLink to="/bank/$bankFileID" params={{ bankFileID: String(file.bankFileID) }}>
              {file.fileName ?? file.bankFileID}
            </PageLink>
          ),
        },
        { key: 'at', label: t('bank.importedAt'), show: (file) => shownTime(file.createdAt) },
        { key: 'by', label: t('bank.importedBy'), show: (file) => file.createdBy },
        { key: 'format', label: t('bank.format'), show: (file) => file.format },
        { key: 'lines', label: t('bank.lines'), isFigure: true, show: (file) => file.lines },
        {
          key: 'duplicates',
          label: t('bank.duplicates'),
          isFigure: true,
          show: (file) => file.duplicates,
        },
      ]}
    />
  );
}
