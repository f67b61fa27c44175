// Files in and out of the workspace.
import { Tabs } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { mayUse } from '../../api/session.ts';
import { Page } from '../../parts/page.tsx';
import { ExportFile } from './export-file.tsx';
import { ImportFile } from './import-file.tsx';

export function Files() {
  const { t } = useTranslation();
  const mayImport = mayUse('imports:write');
  return (
    <Page title={t('files.title')} hint={t('files.hint')}>
      <Tabs defaultValue={mayImport ? 'in' : 'out'} keepMounted={false}>
        <Tabs.List mb="md">
          {mayImport && <Tabs.Tab value="in">{t('files.in')}</Tabs.Tab>}
          <Tabs.Tab value="out">{t('files.out')}</Tabs.Tab>
        </Tabs.List>
        {mayImport && (
          <Tabs.Panel value="in">
            <ImportFile />
          </Tabs.Panel>
        )}
        <Tabs.Panel value="out">
          <ExportFile />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
