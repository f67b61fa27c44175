// The journals of a month as a file for the accounts.
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { offerFile } from '../../parts/download.ts';
import { bytesOf } from '../../parts/file.tsx';

export function ExportMonth() {
  const { t } = useTranslation();
  return (
    <ActionDialog
      label={t('ledger.export')}
      fields={{
        month: { label: t('ledger.month'), hint: 'MM/YYYY', required: true },
        format: {
          label: t('bank.format'),
          kind: 'choice',
          choices: ['CSV', 'IIF'].map((value) => ({ value, label: value })),
        },
      }}
      send={({ month = '', format }) =>
        api.exportMonth({ month, format: format === 'IIF' ? 'IIF' : 'CSV' })
      }
      onDone={({ data }) => offerFile(data.fileName, bytesOf(data.base64), data.contentType)}
    />
  );
}
