import * as Type from 'typebox';
import { dateIn, formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError, definitionErrors } from '../../base/errors.ts';
import { presentSimulatedBill } from '../../domain/bills/simulated-bill.ts';
import { checkDefinitionsFrom, simulateBill } from '../../domain/pricing/calculator.ts';
import { assertSound, contextError } from '../../domain/pricing/check-definitions.ts';
import { contextDefinition } from '../../domain/pricing/context.ts';
import { type ContextRow, findContext } from '../../domain/pricing/contexts-store.ts';
import { loadDefinitions, storedPriceBook } from '../../domain/pricing/price-books.ts';
import {
  compilePriceBook,
  type Definitions,
  type PriceBook,
} from '../../domain/rating/compile/price-book.ts';
import type { FrozenInputs } from '../../domain/rating/frozen-inputs.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { lineExplanation, simulatedBill } from '../bills/bill-fields.ts';
import { maybe, text } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { assertSmall, given } from '../pricing-fields.ts';
import {
  pricingDefaults,
  pricingSent,
  serviceCode,
  serviceHead,
  serviceRest,
} from '../services/service-fields.ts';
import { scenario } from './scenario-fields.ts';
import { onlyVersion, placesOf, unsavedTariff, withUnsavedPlans } from './unsaved-fields.ts';

const unsavedService = Type.Object({
  code: serviceCode,
  ...Type.Partial(Type.Object(serviceHead)).properties,
  ...serviceRest,
});

const request = Type.Object({
  serviceCode: maybe(text({ max: 32 })),
  service: maybe(unsavedService),
  tariffs: maybe(Type.Array(unsavedTariff, { maxItems: 500 })),
  tariffCode: maybe(text({ max: 64 })),
  scenario,
  explain: maybe(Type.Boolean()),
});
type Request = Type.Static<typeof request>;

export const simulateTariff = operation({
  path: '/billing/tariffs/simulate-tariff',
  method: 'Retrieve',
  action: 'Simulate Plan',
  access: { permission: 'plans:read' },
  summary: 'Prices one example bill, also with a context and plans that are not saved.',
  request,
  response: Type.Object({
    bill: simulatedBill,
    explanation: Type.Optional(Type.Array(lineExplanation)),
  }),
  errors: [
    'SERVICE_NOT_FOUND',
    'PLAN_NOT_FOUND',
    'PARENT_NOT_FOUND',
    'PLAN_CYCLE',
    'PLAN_TOO_DEEP',
    'DUPLICATE',
    ...definitionErrors,
  ],
  refusal: contextError,
  example: {
    serviceCode: 'ELEC',
    tariffCode: 'RES-A1',
    scenario: {
      term: { label: 'Jul-2025', startDate: '01/07/2025', endDate: '31/07/2025' },
      connection: { connectionInputs: [{ name: 'load', value: '5' }] },
      meters: [
        {
          number: 700101,
          input: 'energy',
          previous: { date: '30/06/2025', value: '48210' },
          current: { date: '31/07/2025', value: '48352' },
        },
      ],
    },
    explain: true,
  },
  async handle(call, body) {
    assertSmallScenario(body);
    const row = await storedContext(call, body);
    const book = await bookOf(call, body, row);
    assertPlanKnown(book, body);
    const { scenario, tariffCode } = body;
    const frozen = { ...scenario, tariffCode: tariffCode || null } as unknown as FrozenInputs;
    const asked = { frozen, explain: body.explain === true };
    const { bill: rated, isHeld } = await simulateBill(call.tenant.tenantId, book, asked);
    const serviceLabel = body.service?.name ?? row?.name ?? body.service?.code ?? '';
    const { bill, explanation } = presentSimulatedBill(rated, { serviceLabel, isHeld });
    return {
      message: bill.status === 'Error' ? 'The bill has errors' : 'One bill simulated',
      data: { bill, ...(explanation && { explanation: explanation as never }) },
    };
  },
});

/** Uploaded usage of a month of days and more. */
const usageCharactersMax = 1_048_576;

function assertSmallScenario({ scenario }: Request): void {
  assertSmall('scenario.uploadedUsage', scenario.uploadedUsage, usageCharactersMax);
  assertSmall('scenario.usageHistory', scenario.usageHistory);
  assertSmall('scenario.previousTerm.usage', scenario.previousTerm?.usage);
  assertSmall('scenario.previousTerm.billed', scenario.previousTerm?.billed);
  for (const [index, variant] of (scenario.connection?.variants ?? []).entries()) {
    assertSmall(`scenario.connection.variants[${index}].value`, variant.value);
  }
}

async function storedContext(call: Call, body: Request): Promise<ContextRow | undefined> {
  const code = body.service?.code ?? body.serviceCode;
  if (!code) {
    throw new AppError('REQUIRED_FIELD', {
      message: 'Name a saved context by serviceCode, or send one as service',
      field: 'serviceCode',
    });
  }
  const row = await findContext(call.tx, call.tenant.tenantId, code);
  if (row || body.service) return row;
  throw new AppError('SERVICE_NOT_FOUND', {
    message: `No pricing context has the code ${code}`,
    field: 'serviceCode',
  });
}

/** The stored book, with sent definitions in place of stored ones. */
async function bookOf(call: Call, body: Request, row: ContextRow | undefined): Promise<PriceBook> {
  const { tx, tenant } = call;
  if (row && !body.service && !body.tariffs?.length) {
    return storedPriceBook(tx, tenant.tenantId, row, tenant);
  }
  const stored = await storedDefinitions(tx, tenant, row);
  const definitions = withUnsaved(stored, body, tenant);
  const places = { context: body.service ? 'service' : null, plans: placesOf(body.tariffs) };
  const today = formatDate(dateIn(call.now, tenant.timezone));
  const { errors } = await checkDefinitionsFrom(tenant.tenantId, definitions, today);
  assertSound(errors, places);
  return compilePriceBook(definitions);
}

async function storedDefinitions(
  tx: Tx,
  tenant: Tenant,
  row: ContextRow | undefined,
): Promise<Definitions> {
  if (!row) return { contexts: [], plans: [] };
  return loadDefinitions(tx, tenant.tenantId, row, tenant);
}

function withUnsaved(stored: Definitions, body: Request, tenant: Tenant): Definitions {
  const { service, tariffs } = body;
  if (!service) return withUnsavedPlans(stored, tariffs);
  const pricing = { ...pricingDefaults, ...given(pricingSent(service)) };
  const contexts = [onlyVersion(contextDefinition(service.code, pricing, tenant))];
  return withUnsavedPlans({ ...stored, contexts }, tariffs);
}

function assertPlanKnown(book: PriceBook, { tariffCode, scenario }: Request): void {
  if (tariffCode) {
    if (book.plans.has(tariffCode)) return;
    throw new AppError('PLAN_NOT_FOUND', {
      message: `The pricing context has no plan with the code ${tariffCode}`,
      field: 'tariffCode',
    });
  }
  if (scenario.connection?.tariffHistory?.length) return;
  throw new AppError('REQUIRED_FIELD', {
    message: 'Name the plan by tariffCode or by scenario.connection.tariffHistory',
    field: 'tariffCode',
  });
}
