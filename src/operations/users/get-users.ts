import * as Type from 'typebox';
import { wireDay } from '../../base/days.ts';
import { AppError } from '../../base/errors.ts';
import { majorUnits } from '../../base/money.ts';
import {
  countBills,
  listBillsOfPartyAfter,
  listBillsOfPartyAt,
} from '../../domain/bills/list-store.ts';
import { findPartyView, type HoldingRow, type PartyView } from '../../domain/parties/view-store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { billView } from '../bills/bill-fields.ts';
import { billListing } from '../bills/bill-listing-fields.ts';
import { withShownNames } from '../customer-fields.ts';
import { dunningHoldView } from '../dunning/hold-fields.ts';
import { addressView, id, maybe, money, nullable, page, wholeAddress } from '../fields.ts';
import { operation } from '../operation.ts';
import { partySummary, presentParty } from './party-fields.ts';

export const getUsers = operation({
  path: '/billing/users/get-users',
  method: 'Retrieve',
  action: 'Retrieve Parties',
  access: { permission: 'parties:read', own: 'own-party:read' },
  summary: 'Shows one party with its balances, billing accounts and subscriptions.',
  byKey: () => true,
  request: Type.Object({
    partyNumber: id,
    includeBills: maybe(Type.Boolean()),
    page: Type.Optional(page),
  }),
  response: Type.Object({
    user: Type.Object({
      ...partySummary,
      erasedOn: nullable(Type.String({ description: 'DD/MM/YYYY: when its data was erased' })),
      identityNumber: nullable(Type.String()),
      taxNumber: nullable(Type.String()),
      address: nullable(addressView),
      language: nullable(Type.String()),
      competencies: Type.Array(
        Type.Object({
          name: Type.String(),
          level: nullable(Type.String()),
          validFrom: nullable(Type.String()),
          validTo: nullable(Type.String()),
        }),
      ),
      deliveryChannels: nullable(Type.Array(Type.String())),
      walletAccount: Type.Object({ balance: money }),
      outstandingAccount: Type.Object({ balance: money }),
      userAccount: Type.Object({ status: Type.String() }),
      dunningHold: dunningHoldView,
      subscriptionGroups: Type.Array(
        Type.Object({
          connectionGroupID: Type.Integer(),
          connectionGroupLabel: Type.String(),
          billingGroupID: nullable(Type.Integer()),
          billingGroupName: nullable(Type.String()),
          balance: money,
          subscriptions: Type.Array(Type.String()),
        }),
      ),
      subscriptions: Type.Array(
        Type.Object({
          id: Type.Integer(),
          connectionNumber: Type.String(),
          connectionRefNo: nullable(Type.String()),
          serviceCode: Type.String(),
          tariffCode: Type.String(),
          status: Type.String(),
          connectionGroupLabel: Type.String(),
          balance: money,
        }),
      ),
      bills: Type.Optional(Type.Array(billView)),
    }),
  }),
  errors: ['PARTY_NOT_FOUND'],
  example: { partyNumber: 100001, includeBills: false, page: { pageNumber: 0, size: 20 } },
  async handle(call, body) {
    const view = await findPartyView(call.tx, call.tenant.tenantId, body.partyNumber);
    const isHidden = call.ownPartyId !== null && view?.party.party_id !== call.ownPartyId;
    if (!view || isHidden) {
      throw new AppError('PARTY_NOT_FOUND', {
        message: `No party has the number ${body.partyNumber}`,
        field: 'partyNumber',
      });
    }
    const { party_id: partyId, logs_reads: isLogged } = view.party;
    if (isLogged && call.ownPartyId === null) {
      call.audit({ subject: 'party', subjectId: partyId, before: null, after: { read: true } });
    }
    // Customers do not see why they are left alone.
    const { held_until: until, held_because: reason } = view.party;
    const isShown = call.ownPartyId === null && until !== null && reason !== null;
    const dunningHold = isShown ? { until: wireDay(until), reason } : null;
    const shown = withShownNames(call, presentView(view.party, view.holdings, call.tenant));
    const user = { ...shown, dunningHold };
    const message = '1 found';
    if (!body.includeBills) return { message, data: { user } };
    const { tenantId } = call.tenant;
    // Customers see what was published.
    const statuses = call.ownPartyId === null ? null : (['Published'] as const);
    const filter = { partyId, statuses };
    const listed = await billListing(call, {
      page: body.page,
      count: (tx) => countBills(tx, tenantId, filter),
      at: (tx, window) => listBillsOfPartyAt(tx, tenantId, filter, window),
      after: (tx, options) => listBillsOfPartyAfter(tx, tenantId, filter, options),
      wrap: (bills: never[]) => ({ user: { ...user, bills } }),
    });
    return { ...listed, message };
  },
});

function presentView(party: PartyView, holdings: readonly HoldingRow[], tenant: Tenant) {
  // Of a vendor, above zero is what the workspace owes.
  const side = party.kind === 'Vendor' ? -1n : 1n;
  const owed = (minor: bigint) => majorUnits(side * minor, tenant.currencyDecimals);
  const amount = (rows: readonly HoldingRow[]) =>
    owed(rows.reduce((sum, row) => sum + BigInt(row.receivable), 0n));
  const subscribed = holdings.filter((row) => row.subscription_id !== null);
  const accounts = [...Map.groupBy(holdings, (row) => row.account_id).values()];
  return {
    ...presentParty(party, tenant),
    erasedOn: party.erased_on && wireDay(party.erased_on),
    identityNumber: party.identity_number,
    taxNumber: party.tax_number,
    address: party.address && wholeAddress(party.address),
    language: party.language,
    competencies: party.competencies.map(({ name, level, validFrom, validTo }) => ({
      name,
      level: level ?? null,
      validFrom: validFrom ?? null,
      validTo: validTo ?? null,
    })),
    deliveryChannels: party.delivery_channels,
    walletAccount: { balance: majorUnits(BigInt(party.wallet_balance), tenant.currencyDecimals) },
    outstandingAccount: { balance: owed(BigInt(party.outstanding)) },
    userAccount: { status: party.portal_status },
    subscriptionGroups: accounts.flatMap((rows) => {
      const [account] = rows;
      if (!account) return [];
      return {
        connectionGroupID: account.account_id,
        connectionGroupLabel: account.label,
        billingGroupID: account.billing_group_id,
        billingGroupName: account.billing_group_name,
        balance: amount(rows),
        subscriptions: rows
          .filter((row) => row.subscription_id !== null)
          .map((row) => row.subscription_number),
      };
    }),
    subscriptions: subscribed.map((row) => ({
      id: row.subscription_id ?? 0,
      connectionNumber: row.subscription_number,
      connectionRefNo: row.reference_number,
      serviceCode: row.context_code,
      tariffCode: row.plan_code,
      status: row.status,
      connectionGroupLabel: row.label,
      balance: amount([row]),
    })),
  };
}
