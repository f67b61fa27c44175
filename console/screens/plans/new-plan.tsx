// Creates a plan: empty, or as a copy of another.
import { Checkbox, NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { plansQuery, readPlan, type Service, servicesQuery } from '../../api/queries/plans.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';

const planTypes = ['BASE_PLAN', 'ADDON_PLAN', 'ONE_TIME_PLAN'] as const;

export function NewPlan({ serviceCode }: { serviceCode: string }) {
  const { t } = useTranslation();
  const services = useQuery(servicesQuery);
  return (
    <DialogButton label={t('newPlan.title')}>
      {() => {
        if (services.isPending) return <Loading />;
        if (services.isLoadingError) return <Refusal error={services.error} />;
        if (services.data.length === 0) {
          return <Empty title={t('newPlan.noService')}>{t('newPlan.noServiceHint')}</Empty>;
        }
        return <Form services={services.data} serviceCode={serviceCode} />;
      }}
    </DialogButton>
  );
}

function Form({ services, serviceCode }: { services: readonly Service[]; serviceCode: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const plans = useQuery(plansQuery);
  const form = useForm({
    initialValues: {
      serviceCode: serviceCode === '' ? (services[0]?.serviceCode ?? '') : serviceCode,
      code: '',
      name: '',
      planType: 'BASE_PLAN' as (typeof planTypes)[number],
      copyOf: '',
      parentTariffCode: '',
      abstract: false,
    },
  });
  const ofService = (plans.data ?? []).filter((one) => one.serviceCode === form.values.serviceCode);
  const send = async ({ copyOf, abstract, ...values }: typeof form.values) => {
    const service = services.find((one) => one.serviceCode === values.serviceCode);
    const copied = copyOf === '' ? null : await readPlan(Number(copyOf));
    return api.createTariff({
      tariff: {
        ...values,
        uniqueLabel: values.name,
        chargeType: service?.chargingType ?? '',
        abstract: abstract ? 1 : 0,
        ...(copied && {
          valueFormulas: copied.valueFormulas,
          componentRules: copied.componentRules,
          usageData: copied.usageData,
          securityAttributes: copied.securityAttributes,
        }),
      },
    });
  };
  return (
    <SendForm
      form={form}
      send={send}
      action={t('newPlan.make')}
      onDone={({ headers }) =>
        navigate({
          to: '/plans/$planID',
          params: { planID: headers.get('x-resource-id') ?? '' },
          ignoreBlocker: true,
        })
      }
    >
      <NativeSelect
        label={t('plans.service')}
        data={services.map((one) => ({
          value: one.serviceCode,
          label: `${one.serviceCode} · ${one.serviceLabel}`,
        }))}
        {...form.getInputProps('serviceCode')}
      />
      <TextInput label={t('plans.code')} required data-autofocus {...form.getInputProps('code')} />
      <TextInput label={t('plans.name')} required {...form.getInputProps('name')} />
      <NativeSelect
        label={t('plans.type')}
        data={planTypes.map((value) => ({ value, label: t(`planType.${value}`) }))}
        {...form.getInputProps('planType')}
      />
      <NativeSelect
        label={t('newPlan.copyOf')}
        data={[
          { value: '', label: t('newPlan.empty') },
          ...ofService.map((one) => ({ value: String(one.tariffID), label: one.tariffCode })),
        ]}
        {...form.getInputProps('copyOf')}
      />
      <NativeSelect
        label={t('plans.parent')}
        description={t('newPlan.parentHint')}
        data={[
          { value: '', label: t('plans.noParent') },
          ...ofService.map((one) => ({ value: one.tariffCode, label: one.tariffCode })),
        ]}
        {...form.getInputProps('parentTariffCode')}
      />
      <Checkbox
        label={t('newPlan.abstract')}
        {...form.getInputProps('abstract', { type: 'checkbox' })}
      />
    </SendForm>
  );
}
