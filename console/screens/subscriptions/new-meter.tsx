// Registers a meter, so that it can be installed.
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { meterMetaDataQuery } from '../../api/queries/subscriptions.ts';
import { mayUse, today } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';

export function NewMeter() {
  const { t } = useTranslation();
  const mayWrite = mayUse('meters:write');
  const { data } = useQuery({ ...meterMetaDataQuery, enabled: mayWrite });
  if (!mayWrite) return null;
  const types = data?.meterTypes ?? [];
  return (
    <ActionDialog
      label={t('meter.new')}
      fields={{
        number: { label: t('meter.number'), required: true },
        meterType: {
          label: t('meter.type'),
          kind: 'choice',
          choices: types.map(({ id, name }) => ({ value: String(id), label: name })),
        },
        brand: { label: t('meterEdit.brand'), required: true, initial: data?.brands[0] ?? '' },
        purchaseDate: { label: t('meter.bought'), kind: 'date', initial: today() },
        mf: { label: t('meter.mf'), hint: t('meter.mfHint'), kind: 'amount', initial: '1' },
      }}
      send={({ number, meterType, brand = '', purchaseDate = '', mf }) =>
        api.makeMeters({
          meters: [
            {
              number: Number(number),
              meterType: Number(meterType),
              brand,
              purchaseDate,
              mf: Number(mf),
            },
          ],
        })
      }
    />
  );
}
