import * as Type from 'typebox';
import { amountText } from '../../base/money.ts';
import { settleWallet as settle } from '../../domain/receivables/wallet.ts';
import { empty, id } from '../fields.ts';
import { operation } from '../operation.ts';
import { postingOf } from './payment-fields.ts';

export const settleWallet = operation({
  path: '/billing/payments/settle-wallet',
  method: 'Update',
  action: 'Settle Wallet',
  access: { permission: 'payments:write' },
  summary: 'Uses the wallet of a party now for what the party owes.',
  request: Type.Object({ data: Type.Object({ partyID: id }) }),
  response: empty,
  errors: ['PARTY_NOT_FOUND'],
  example: { data: { partyID: 1 } },
  async handle(call, { data }) {
    const { tenantId, currency, currencyDecimals } = call.tenant;
    const used = await settle(call.tx, tenantId, data.partyID, postingOf(call));
    if (used > 0) {
      const after = { used };
      call.audit({ subject: 'wallet', subjectId: data.partyID, before: null, after });
    }
    const amount = `${currency} ${amountText(BigInt(used), currencyDecimals)}`;
    const message =
      used === 0 ? 'Nothing was settled' : `${amount} of the wallet settled open items`;
    return { message, data: {} };
  },
});
