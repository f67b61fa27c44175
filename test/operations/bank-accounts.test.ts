// Bank accounts: which are stored with the codes of their bills, and which are refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../../src/base/errors.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { newService, shownService } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const euro = await workspaceIn('EUR');
const rupee = await workspaceIn('INR');
const code = await newService(euro);

async function workspaceIn(currency: string): Promise<TestClient> {
  const admin = await scene.workspace(`banks-${currency.toLowerCase()}`);
  await admin.updateSettings({ data: { currency } });
  return admin;
}

const iban = 'DE75512108001245126199';
const emv = {
  type: 'EMVCo',
  tag: '30',
  guid: 'A000000677010112',
  fields: [
    { tag: '01', value: '010753600031508' },
    { tag: '02', value: '{{bill.billRefNo}}' },
  ],
  name: 'City Power',
  city: 'Bangkok',
  country: 'TH',
};
const page = 'https://pay.example.com/{{bill.billRefNo}}?a={{bill.payableWithinDueDate}}';

function save(account: object, admin = euro, service = code) {
  return admin.updateService({
    service: { code: service, bankAccounts: [{ title: 'Collections', ...account }] },
  });
}

test('a bank account is stored with its code; IBAN and BIC lose their spaces', async () => {
  const codes = [{ type: 'EPC' }, emv, { type: 'Reference' }, { type: 'URL', url: page }];
  for (const paymentCode of codes) {
    await save({ iban: 'de75 5121 0800 1245 1261 99', swift: 'soge de ff', paymentCode });
    const [stored] = (await shownService(euro, code)).bankAccounts ?? [];
    assert.deepEqual([stored?.iban, stored?.swift], [iban, 'SOGEDEFF']);
    assert.deepEqual(stored?.paymentCode, paymentCode);
  }
  await save({ paymentCode: { ...emv, country: 'THA' } });
  assert.equal((await shownService(euro, code)).bankAccounts?.[0]?.paymentCode?.country, 'TH');
  const upi = { type: 'UPI', upiAddress: 'city.power@bank' };
  const indian = await newService(rupee);
  await save({ paymentCode: upi }, rupee, indian);
  assert.deepEqual((await shownService(rupee, indian)).bankAccounts?.[0]?.paymentCode, upi);
});

const url = (text: string) => ({ paymentCode: { type: 'URL', url: text } });
const emvWith = (over: object) => ({ paymentCode: { ...emv, ...over } });
const upi = (upiAddress: string) => ({ paymentCode: { type: 'UPI', upiAddress } });
const epc = (over: object = {}) => ({ iban, paymentCode: { type: 'EPC', ...over } });

const refused: [account: object, code: ErrorCode, field: string][] = [
  [{ iban: 'DE75512108001245126198' }, 'INVALID_FORMAT', 'iban'],
  [{ iban: 'DE7551210800124512619' }, 'INVALID_FORMAT', 'iban'],
  [{ iban: 'DE7551210800124512619X' }, 'INVALID_FORMAT', 'iban'],
  [{ iban: 'XX11BANK01' }, 'INVALID_FORMAT', 'iban'],
  [{ swift: 'SOGEDE' }, 'INVALID_FORMAT', 'swift'],
  [{ swift: 'SOGEDEFF12' }, 'INVALID_FORMAT', 'swift'],
  [{ paymentCode: {} }, 'REQUIRED_FIELD', 'paymentCode.type'],
  [{ paymentCode: { type: 'Giro' } }, 'INVALID_ENUM', 'paymentCode.type'],
  [{ paymentCode: { type: 'Reference', colour: 1 } }, 'UNKNOWN_FIELD', 'paymentCode.colour'],
  [{ paymentCode: { type: 'Reference', url: page } }, 'UNKNOWN_FIELD', 'paymentCode.url'],
  [{ paymentCode: { type: 'EPC' } }, 'REQUIRED_FIELD', 'iban'],
  [{ ...epc(), currency: 'USD' }, 'DEFINITION_INVALID', 'paymentCode.type'],
  [{ ...epc(), title: 'لاہور بجلی' }, 'REQUIRED_FIELD', 'paymentCode.name'],
  [epc({ name: 'لاہور بجلی' }), 'INVALID_FORMAT', 'paymentCode.name'],
  [epc({ name: 'x'.repeat(71) }), 'FIELD_TOO_LONG', 'paymentCode.name'],
  [{ paymentCode: { type: 'EMVCo' } }, 'REQUIRED_FIELD', 'paymentCode.tag'],
  [emvWith({ tag: '25' }), 'INVALID_FORMAT', 'paymentCode.tag'],
  [emvWith({ guid: 'A 0' }), 'INVALID_FORMAT', 'paymentCode.guid'],
  [emvWith({ fields: [] }), 'REQUIRED_FIELD', 'paymentCode.fields'],
  [emvWith({ fields: [{ tag: '00', value: '1' }] }), 'INVALID_FORMAT', 'paymentCode.fields[0].tag'],
  [emvWith({ fields: [emv.fields[0], emv.fields[0]] }), 'DUPLICATE', 'paymentCode.fields[1].tag'],
  [
    emvWith({ fields: [{ tag: '01', value: '{{bill.none}}' }] }),
    'TEMPLATE_INVALID',
    'paymentCode.fields[0].value',
  ],
  [
    emvWith({ fields: [{ tag: '01', value: 'لاہور' }] }),
    'INVALID_FORMAT',
    'paymentCode.fields[0].value',
  ],
  [
    emvWith({ fields: [{ tag: '01', value: '9'.repeat(80) }] }),
    'FIELD_TOO_LONG',
    'paymentCode.fields',
  ],
  [emvWith({ name: 'A name of more than 25 letters' }), 'INVALID_FORMAT', 'paymentCode.name'],
  [emvWith({ city: 'لاہور' }), 'INVALID_FORMAT', 'paymentCode.city'],
  [emvWith({ country: 'XX' }), 'INVALID_COUNTRY', 'paymentCode.country'],
  [emvWith({ categoryCode: '49' }), 'INVALID_FORMAT', 'paymentCode.categoryCode'],
  [upi('city.power@bank'), 'DEFINITION_INVALID', 'paymentCode.type'],
  [{ paymentCode: { type: 'URL' } }, 'REQUIRED_FIELD', 'paymentCode.url'],
  [url('http://pay.example.com'), 'INVALID_FORMAT', 'paymentCode.url'],
  [url('javascript:alert(1)'), 'INVALID_FORMAT', 'paymentCode.url'],
  [url('https://{{bill.partyName}}.example.com'), 'INVALID_FORMAT', 'paymentCode.url'],
  [url('https://bank.example@evil.example/'), 'INVALID_FORMAT', 'paymentCode.url'],
  [url('https://pay.example.com/a b'), 'INVALID_FORMAT', 'paymentCode.url'],
  [url('https://pay.example.com/{{bill.none}}'), 'TEMPLATE_INVALID', 'paymentCode.url'],
  [url('https://pay.example.com/{{bill.billRefNo'), 'TEMPLATE_INVALID', 'paymentCode.url'],
];

test('a bank account from which no code can be made is refused, and nothing is stored', async () => {
  await save({ iban, paymentCode: { type: 'EPC' } });
  const { bankAccounts, ts } = await shownService(euro, code);
  for (const [account, error, field] of refused) {
    await refuses(save(account), error, { field: `service.bankAccounts[0].${field}` });
  }
  const after = await shownService(euro, code);
  assert.deepEqual([after.bankAccounts, after.ts], [bankAccounts, ts]);
  const indian = await newService(rupee);
  for (const address of ['city.power', '@bank', 'city power@bank', 'a&pn=x@bank', 'city@bank/x']) {
    const field = 'service.bankAccounts[0].paymentCode.upiAddress';
    await refuses(save(upi(address), rupee, indian), 'INVALID_FORMAT', { field });
  }
  const bad = { bankAccounts: [{ title: 'A', iban: 'DE00', paymentCode: { type: 'URL' } }] };
  const { error } = await refuses(
    euro.updateService({ service: { code, ...bad } as never }),
    'REQUIRED_FIELD',
  );
  assert.equal(error.details.length, 2, 'all problems at once');
});
