// The billing period of a group. One without a period leaves it to the plan of each account.
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { periodsQuery } from '../api/queries/groups.ts';
import { mayUse } from '../api/session.ts';

export function usePeriods() {
  const { t } = useTranslation();
  const { data: periods = [] } = useQuery({ ...periodsQuery, enabled: mayUse('contexts:read') });
  const usual = t('groups.ownPeriod');
  return {
    choices: [
      { value: '', label: usual },
      ...periods.map((one) => ({ value: String(one.billingPeriodID), label: one.name })),
    ],
    nameOf: (id: number | null) =>
      id === null ? usual : (periods.find((one) => one.billingPeriodID === id)?.name ?? ''),
  };
}
