// What the document of a bill says of the past and of its own amounts, as customers get it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post } from '../support/bill-run.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { openOffer } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

async function pageOf(client: TestClient, billID: number): Promise<string[]> {
  const { data } = await client.getBillDocument({ billID, format: 'HTML' });
  return Buffer.from(data.base64, 'base64')
    .toString()
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/[\u2066-\u2069]/g, '')
    .split(/<[^>]+>/)
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

/** What is printed behind a label. */
function after(texts: readonly string[], label: string): string | undefined {
  const at = texts.indexOf(label);
  return at < 0 ? undefined : texts[at + 1];
}

const components = [
  { name: 'fee', label: 'Fee', type: 'Charge', categories: ['taxable'] },
  { name: 'gst', label: 'Sales tax', type: 'Tax' },
] as const;

test('a bill has the previous bill, payments with their days, and the basis of a tax', async () => {
  const place = await openOffer(
    scene,
    'bill-content',
    { autoApplyWallet: 0, components } as never,
    {
      componentRules: [
        { component: 'fee', formula: '1000' },
        { component: 'gst', scope: 'Term', formula: 'SUMCAT("taxable") * 18%' },
      ],
    },
    undefined,
    { sandbox: true },
  );
  const { client } = place;
  const number = await place.connectOld();
  const bill = async (month: string, last: number) => {
    const days = { startDate: `01/${month}/2026`, endDate: `${last}/${month}/2026` };
    const termID = await place.open(days);
    await generate(place, termID);
    await post(place, termID);
    return (await billsOf(place, termID))[0]?.billID ?? 0;
  };
  const pay = (amount: number, paymentDate: string, reference: string) =>
    client.makePayments({
      payments: [
        { reference, amount, paymentMethod: 'Cash', connectionNumber: number, paymentDate },
      ],
    });
  const first = await pageOf(client, await bill('07', 31));
  // 18 % of 1,000 is 180; there was nothing before, so that no row says so.
  assert.ok(first.includes('18 % of 1,000.00'), first.join('|'));
  assert.equal(after(first, 'Balance brought forward'), undefined);
  assert.equal(after(first, 'Current charges'), '1,180.00');
  assert.ok(!first.includes('Quantity') && !first.includes('Rate'), 'no column is empty');
  await pay(500, '03/12/2026', 'P-1');
  await pay(80, '09/12/2026', 'P-2');
  const second = await pageOf(client, await bill('08', 31));
  assert.equal(after(second, 'Previous bill'), '1,180.00');
  assert.equal(after(second, 'Payment received on Dec 03, 2026'), '-500.00');
  assert.equal(after(second, 'Payment received on Dec 09, 2026'), '-80.00');
  // 1,180 - 500 - 80
  assert.equal(after(second, 'Balance brought forward'), '600.00');
  // The chart names the month, whatever the term is called.
  assert.ok(second.includes('Jul') && second.includes('Aug'), second.join('|'));
});

test('a bill prints where to complain, if the letterhead says so', async () => {
  const place = await openOffer(scene, 'bill-complaints', { components } as never, {
    componentRules: [{ component: 'fee', formula: '10' }],
  });
  const { client } = place;
  await place.connectOld();
  const letterhead = {
    complaintPhone: '0800 12345',
    complaintEmail: 'complaints@city.example',
    officeHours: 'Mon–Fri 9:00–17:00',
  };
  await client.updateSettings({ data: { letterhead } });
  const termID = await place.open({ startDate: '01/07/2026', endDate: '31/07/2026' });
  await generate(place, termID);
  const [bill] = await billsOf(place, termID);
  const texts = (await pageOf(client, bill?.billID ?? 0)).join('\n');
  assert.match(texts, /Questions and complaints\n.*0800 12345.*complaints@city\.example.*Mon–Fri/);
});

test('the notes of a bill are in its language, and a changed text drops old translations', async () => {
  const place = await openOffer(scene, 'bill-languages', { components } as never, {
    componentRules: [{ component: 'fee', formula: '10' }],
  });
  const { client } = place;
  await place.connectOld();
  await client.updateSettings({ data: { locale: 'ur-PK' } });
  const termID = await place.open({ startDate: '01/07/2026', endDate: '31/07/2026' });
  await generate(place, termID);
  const billID = (await billsOf(place, termID))[0]?.billID ?? 0;
  const notes = async () => (await pageOf(client, billID)).join('\n');
  assert.match(await notes(), /ادائیگی کے ساتھ حوالہ نمبر \d+ ضرور لکھیں۔/);
  await client.updateTemplate({ data: { templateID: 1, secondLanguage: 'en' } });
  const both = await notes();
  assert.match(both, /آخری تاریخ · Due date/);
  assert.match(both, /ضرور لکھیں۔(.*\n)*Please quote the reference/);
  await client.updateTemplate({ data: { templateID: 1, secondLanguage: null } });
  assert.doesNotMatch(await notes(), /Due date/);
  const wrong = { language: 'ur', body: '{{nothing}}' };
  await refuses(
    client.updateTemplate({ data: { templateID: 1, body: 'Thanks', translations: [wrong] } }),
    'TEMPLATE_INVALID',
    { field: 'data.translations[0].body' },
  );
  const translations = [{ language: 'ur', body: 'شکریہ' }];
  await client.updateTemplate({ data: { templateID: 1, body: 'Thank you', translations } });
  assert.match(await notes(), /شکریہ/);
  await client.updateTemplate({ data: { templateID: 1, body: 'Thanks again', amountInWords: 1 } });
  assert.match(await notes(), /الفاظ میں: دس روپے صرف\n(.*\n)*Thanks again/);
});
