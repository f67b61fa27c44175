// Describes the columns of a bank's CSV file, once per bank.
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';

export function NewMapping() {
  const { t } = useTranslation();
  const column = (name: string, required = false) => ({ label: t(`mapping.${name}`), required });
  return (
    <ActionDialog
      label={t('mapping.new')}
      effect={t('mapping.hint')}
      fields={{
        name: { label: t('mapping.name'), required: true },
        date: column('date', true),
        amount: column('amount', true),
        reference: column('reference'),
        payer: column('payer'),
        text: column('text'),
        bankID: column('bankID'),
        dateFormat: {
          label: t('mapping.dateFormat'),
          kind: 'choice',
          choices: ['DD/MM/YYYY', 'YYYY-MM-DD', 'MM/DD/YYYY', 'DD.MM.YYYY'].map((value) => ({
            value,
            label: value,
          })),
        },
        decimal: {
          label: t('mapping.decimal'),
          kind: 'choice',
          choices: [
            { value: '.', label: '1,234.50' },
            { value: ',', label: '1.234,50' },
          ],
        },
      }}
      send={({ name = '', date = '', dateFormat = '', decimal, ...columns }) =>
        api.makeMappings({
          mappings: [
            {
              name,
              columns: { ...columns, date, dateFormat, decimal: decimal === ',' ? ',' : '.' },
            },
          ],
        })
      }
    />
  );
}
