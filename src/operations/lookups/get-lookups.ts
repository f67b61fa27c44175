import * as Type from 'typebox';
import { countries } from '../../base/countries.ts';
import { settlementMethods } from '../../domain/ledger/settle.ts';
import { partyKinds } from '../../domain/parties/party.ts';
import { deliveryChannels } from '../../domain/tenants/channels.ts';
import { listPeriods } from '../../domain/tenants/periods-store.ts';
import { templateKinds } from '../../domain/tenants/templates-store.ts';
import { operation } from '../operation.ts';
import { chargingTypes, postTypes, serviceTypes } from '../services/service-fields.ts';
import { planTypes, visibilities } from '../tariffs/tariff-fields.ts';

const words = Type.Array(Type.String());
/** A workspace with more billing periods than this has made a mistake. */
const periodsMax = 1_000;

const paymentMethods = ['Cash', 'Bank', 'Card', 'DirectDebit', 'Wallet', 'Online'];
const termTypes = ['Regular', 'OffCycle', 'Final'];
const subscriptionStatuses = ['Pending', 'Active', 'Disconnected', 'Closed'];

export const getLookups = operation({
  path: '/billing/lookups/get-lookups',
  method: 'Retrieve',
  action: 'Retrieve Lookups',
  access: { permission: 'contexts:read' },
  summary: 'Lists the values and ids that other operations accept.',
  request: Type.Object({}),
  response: Type.Object({
    lookups: Type.Object({
      billingCycles: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String() })),
      countries: Type.Array(
        Type.Object({ id: Type.Integer(), code: Type.String(), alpha3: Type.String() }),
      ),
      planTypes: words,
      visibilities: words,
      postTypes: words,
      serviceTypes: words,
      chargingTypes: words,
      paymentSettlementMethods: words,
      paymentMethods: words,
      userTypes: words,
      templateTypes: words,
      deliveryChannels: words,
      termTypes: words,
      subscriptionStatuses: words,
    }),
  }),
  errors: [],
  example: {},
  async handle(call) {
    const { tenantId } = call.tenant;
    const periods = await listPeriods(call.tx, tenantId, { afterId: 0, limit: periodsMax });
    const lookups = {
      billingCycles: periods.map((row) => ({ id: row.period_id, name: row.name })),
      countries: [...countries],
      planTypes: [...planTypes],
      visibilities: [...visibilities],
      postTypes: [...postTypes],
      serviceTypes: [...serviceTypes],
      chargingTypes: [...chargingTypes],
      paymentSettlementMethods: [...settlementMethods],
      paymentMethods,
      userTypes: [...partyKinds],
      templateTypes: [...templateKinds],
      deliveryChannels: [...deliveryChannels],
      termTypes,
      subscriptionStatuses,
    };
    return { message: 'Lookups', data: { lookups } };
  },
});
