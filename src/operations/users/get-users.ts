import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { majorUnits } from '../../base/money.ts';
import { findPartyView, type PartyView } from '../../domain/parties/store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { id, maybe, money, nullable, page } from '../fields.ts';
import { operation } from '../operation.ts';
import { partySummary, presentParty } from './party-fields.ts';

export const getUsers = operation({
  path: '/billing/users/get-users',
  method: 'Retrieve',
  action: 'Retrieve Parties',
  access: { permission: 'parties:read', own: 'own-party:read' },
  summary: 'Shows one party with its balances, billing accounts and subscriptions.',
  request: Type.Object({
    partyNumber: id,
    includeBills: maybe(Type.Boolean()),
    page: Type.Optional(page),
  }),
  response: Type.Object({
    user: Type.Object({
      ...partySummary,
      identityNumber: nullable(Type.String()),
      taxNumber: nullable(Type.String()),
      address: nullable(Type.Unsafe<object>({ type: 'object', additionalProperties: true })),
      language: nullable(Type.String()),
      competencies: Type.Array(Type.Unsafe<object>({ type: 'object', additionalProperties: true })),
      walletAccount: Type.Object({ balance: money }),
      outstandingAccount: Type.Object({ balance: money }),
      userAccount: Type.Object({ status: Type.String() }),
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
      bills: Type.Optional(Type.Array(Type.Object({}))),
    }),
  }),
  errors: ['PARTY_NOT_FOUND'],
  example: { partyNumber: 100001, includeBills: false, page: { pageNumber: 0, size: 20 } },
  async handle(call, body) {
    const view = await findPartyView(call.tx, call.tenant.tenantId, body.partyNumber);
    const isHidden = call.ownPartyId !== null && view?.party_id !== call.ownPartyId;
    if (!view || isHidden) {
      throw new AppError('PARTY_NOT_FOUND', {
        message: `No party has the number ${body.partyNumber}`,
        field: 'partyNumber',
      });
    }
    const user = { ...presentView(view, call.tenant), ...(body.includeBills ? { bills: [] } : {}) };
    return { message: '1 found', data: { user } };
  },
});

function presentView(view: PartyView, tenant: Tenant) {
  const amount = (minor: bigint) => majorUnits(minor, tenant.currencyDecimals);
  const byAccount = Map.groupBy(view.subscriptions, (subscription) => subscription.account_id);
  return {
    ...presentParty(view, tenant),
    identityNumber: view.identity_number,
    taxNumber: view.tax_number,
    address: view.address,
    language: view.language,
    competencies: view.competencies,
    walletAccount: { balance: amount(BigInt(view.wallet)) },
    outstandingAccount: { balance: amount(BigInt(view.outstanding)) },
    userAccount: { status: view.login_status ?? 'NONE' },
    subscriptionGroups: view.accounts.map((account) => {
      const subscriptions = byAccount.get(account.account_id) ?? [];
      const balance = subscriptions.reduce((sum, one) => sum + BigInt(one.balance), 0n);
      return {
        connectionGroupID: account.account_id,
        connectionGroupLabel: account.label,
        billingGroupID: account.billing_group_id,
        billingGroupName: account.billing_group_name,
        balance: amount(balance),
        subscriptions: subscriptions.map((one) => one.subscription_number),
      };
    }),
    subscriptions: view.subscriptions.map((one) => ({
      id: one.subscription_id,
      connectionNumber: one.subscription_number,
      connectionRefNo: one.reference_number,
      serviceCode: one.context_code,
      tariffCode: one.plan_code,
      status: one.status,
      connectionGroupLabel: one.account_label,
      balance: amount(BigInt(one.balance)),
    })),
  };
}
