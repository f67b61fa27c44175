// Creates a service: what it bills, and when. Its lines, inputs and values can be changed afterwards.
import { NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { SendForm } from '../../parts/send-form.tsx';

const measures = ['Metered', 'Uploaded', 'Fixed'] as const;

export function NewService() {
  const { t } = useTranslation();
  return <DialogButton label={t('newService.title')}>{() => <Form />}</DialogButton>;
}

function Form() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const form = useForm({
    initialValues: {
      code: '',
      name: '',
      measure: 'Metered' as (typeof measures)[number],
      unit: '',
      postBilling: '1',
      dueDateOffset: '15',
      chargeLabel: '',
      taxLabel: '',
    },
  });
  type Typed = typeof form.values;
  const { measure, code } = form.values;
  return (
    <SendForm
      form={form}
      send={(typed: Typed) =>
        api.createService({
          service: serviceOf({
            ...typed,
            priceLabel: t('newService.price'),
            usageLabel: t('subscription.usage'),
          }),
        })
      }
      action={t('newService.make')}
      done={t('newService.made')}
      onDone={() =>
        navigate({
          to: '/services/$serviceCode',
          params: { serviceCode: code.trim().toUpperCase() },
          ignoreBlocker: true,
        })
      }
    >
      <TextInput
        label={t('plans.code')}
        description={t('newService.codeHint')}
        required
        data-autofocus
        {...form.getInputProps('code')}
      />
      <TextInput label={t('plans.name')} required {...form.getInputProps('name')} />
      <NativeSelect
        label={t('newService.measure')}
        data={measures.map((value) => ({ value, label: t(`newService.${value}`) }))}
        {...form.getInputProps('measure')}
      />
      {measure !== 'Fixed' && (
        <TextInput
          label={t('newService.unit')}
          description={t('newService.unitHint')}
          required
          {...form.getInputProps('unit')}
        />
      )}
      <NativeSelect
        label={t('newService.when')}
        data={['1', '0'].map((value) => ({ value, label: t(`newService.when_${value}`) }))}
        {...form.getInputProps('postBilling')}
      />
      <TextInput
        label={t('services.dueDateOffset')}
        inputMode="numeric"
        {...form.getInputProps('dueDateOffset')}
      />
      <TextInput
        label={t('newService.charge')}
        description={t('newService.chargeHint')}
        required
        {...form.getInputProps('chargeLabel')}
      />
      <TextInput
        label={t('newService.tax')}
        description={t('newService.taxHint')}
        {...form.getInputProps('taxLabel')}
      />
    </SendForm>
  );
}

/** Plans name the first line `charge`, its price `price`, the tax `tax` and the input `quantity`. */
function serviceOf(typed: {
  code: string;
  name: string;
  measure: (typeof measures)[number];
  unit: string;
  postBilling: string;
  dueDateOffset: string;
  chargeLabel: string;
  taxLabel: string;
  priceLabel: string;
  usageLabel: string;
}) {
  const { code, name, measure, unit, postBilling, dueDateOffset, chargeLabel, taxLabel } = typed;
  const input = { name: 'quantity', label: typed.usageLabel, unit: unit.trim() || null };
  const isNumber = /^\d+$/.test(dueDateOffset.trim());
  return {
    code: code.trim().toUpperCase(),
    name,
    serviceType: 'Sale' as const,
    chargingType: 'Postpaid' as const,
    postType: 'Post Subscription' as const,
    billingCycle: 1,
    postBilling: postBilling === '1' ? (1 as const) : (0 as const),
    // What is no number is sent as it is, and the server names the field.
    dueDateOffset: (isNumber ? Number(dueDateOffset) : dueDateOffset) as number,
    values: [{ name: 'price', label: typed.priceLabel, type: 'Number' as const, default: '0' }],
    components: [
      {
        name: 'charge',
        label: chargeLabel.trim() || name,
        type: 'Charge' as const,
        categories: ['taxable'],
        sequence: 10,
      },
      ...(taxLabel.trim() === ''
        ? []
        : [{ name: 'tax', label: taxLabel.trim(), type: 'Tax' as const, sequence: 20 }]),
    ],
    ...(measure === 'Metered' && { meteredInputs: [{ ...input, register: unit.trim() }] }),
    ...(measure === 'Uploaded' && {
      unmeteredInputs: [{ ...input, source: 'Uploaded' as const }],
    }),
  };
}
