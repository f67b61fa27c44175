// The brand and the health of a meter, and its factor while it is not installed.
import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/base.ts';
import { type Meter, meterQuery } from '../../api/queries/subscriptions.ts';
import type { FieldSpec } from '../../parts/action-dialog.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { EditForm } from '../../parts/edit-dialog.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';

const healths = ['ok', 'faulty', 'stopped', 'tampered', 'lost', 'retired'] as const;
type Health = (typeof healths)[number];

export function EditMeter({ number }: { number: number }) {
  const { t } = useTranslation();
  return (
    <DialogButton
      label={t('meterEdit.label')}
      title={t('meterEdit.title', { number })}
      variant="default"
    >
      {(close) => <MeterForm number={number} close={close} />}
    </DialogButton>
  );
}

function MeterForm({ number, close }: { number: number; close: () => void }) {
  const { t } = useTranslation();
  const query = useQuery(meterQuery(number));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  return (
    <EditForm
      label={t('meterEdit.label')}
      object={query.data}
      fieldsOf={(meter) => fieldsOf(t, meter)}
      load={() => queries.fetchQuery({ ...meterQuery(number), staleTime: 0 })}
      send={({ brand, meterHealth, mf }, seen) =>
        api.updateMeter({
          data: {
            number,
            // An empty field is refused at its place, and not left out.
            brand: brand ?? '',
            meterHealth: meterHealth as Health,
            ...(seen.status === 'InActive' ? { mf: Number(mf) } : {}),
            ts: seen.ts,
          },
        })
      }
      close={close}
    />
  );
}

/** The factor of an installed meter would change what was billed: it is not offered. */
function fieldsOf(t: TFunction, meter: Meter): Record<string, FieldSpec> {
  const choices = healths.map((value) => ({ value, label: t(`status.${value}`) }));
  return {
    brand: { label: t('meterEdit.brand'), initial: meter.brand ?? '', required: true },
    meterHealth: {
      label: t('meter.health'),
      kind: 'choice',
      initial: meter.meterHealth ?? 'ok',
      choices,
    },
    ...(meter.status === 'InActive'
      ? { mf: { label: t('meterEdit.mf'), initial: String(meter.mf) } }
      : {}),
  };
}
