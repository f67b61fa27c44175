// A year of five customers in a sandbox: bills each month, what they do about them, closed months.
import { billsOf, generate, post, type ShownBill } from './bill-run.ts';
import { doDailyWork } from './daily-work.ts';
import { schedule } from './delivery.ts';
import { type OfferPlace, openOffer } from './offer-place.ts';
import { newTariff, type Service } from './pricing.ts';
import type { Scene } from './scene.ts';
import { newMeter, newParty } from './subscriptions.ts';
import { newTerm } from './terms.ts';

export const names = ['late', 'advance', 'metered', 'mover', 'keeper'] as const;
export type Name = (typeof names)[number];

export type Year = OfferPlace & {
  parties: Record<Name, number>;
  homes: Record<Name, string>;
  meter: number;
  /** Moves the clock to noon of a day, "16/08" of 2027, and does what fell due until then. */
  on(day: string): Promise<void>;
  pay(name: Name, amount: number, paymentDate?: string): Promise<void>;
  /** Bills the month before that of the day, due on the 15th. */
  bill(day: string, visit?: Partial<Record<Name, number>>): Promise<ShownBill[]>;
  /** Posts and publishes the bills of a term. */
  finish(termID: number): Promise<ShownBill[]>;
};

const late = { component: 'late', scope: 'Term', formula: 'bill.current * 0.10' } as const;
const visit = { component: 'visit', scope: 'Term', formula: '0' } as const;

/** 300 a month by days, or 10 for each unit of a meter; a surcharge of 10 %. */
export async function openYear(scene: Scene, workspace: string): Promise<Year> {
  const service = {
    ...{ autoApplyWallet: 1, minimumDaysToPay: 0 },
    meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
    components: [
      { name: 'fee', label: 'Fee', type: 'Charge' },
      { name: 'energyCharge', label: 'Energy', type: 'Charge' },
      { name: 'visit', label: 'Visit', type: 'Charge', manual: 'Optional' },
      { name: 'late', label: 'Late payment surcharge', type: 'LateSurcharge' },
    ],
  } as Partial<Service>;
  const fee = { component: 'fee', formula: '300', prorate: 'Days' } as const;
  const flat = { componentRules: [fee, visit, late] };
  const place = await openOffer(scene, workspace, service, flat, undefined, { sandbox: true });
  const { client, offer } = place;
  const metered = await newTariff(client, offer.serviceCode, {
    componentRules: [
      { component: 'energyCharge', scope: 'Term', formula: 'usage.energy * 10' },
      visit,
      late,
    ],
    usageData: [{ input: 'energy', source: 'Metered', required: 1 }],
  });
  const meter = await newMeter(client);
  const parties: Record<string, number> = {};
  const homes: Record<string, string> = {};
  for (const name of names) {
    const partyNumber = await newParty(client, name);
    parties[name] = partyNumber;
    homes[name] = await place.connectOld({
      ...{ connectionDate: '01112026', billedThrough: '30112026' },
      users: [{ partyNumber, connectionGroupLabel: name }],
      ...(name === 'metered' && {
        tariffCode: metered.code,
        meters: [{ number: meter, installDate: '30/11/2026', initialReading: '0' }],
      }),
    });
  }
  const made = { ...place, parties, homes, meter } as Omit<Year, 'on' | 'pay' | 'bill' | 'finish'>;
  return { ...made, ...actionsOf(made) };
}

function actionsOf(place: Omit<Year, 'on' | 'pay' | 'bill' | 'finish'>) {
  const { client, offer, scene, tenantId, parties, homes } = place;
  let references = 0;
  const finish = async (termID: number) => {
    await generate(place, termID);
    await post(place, termID);
    await client.publishBills(schedule(termID));
    return billsOf(place, termID);
  };
  return {
    finish,
    async on(day: string) {
      await client.moveClock({ data: { to: `${dateOf(day)}T12:00:00` } });
      await doDailyWork(scene, tenantId);
    },
    async pay(name: Name, amount: number, paymentDate?: string) {
      references += 1;
      const payer = { partyNumber: parties[name], reference: `Y${references}`, amount };
      const dated = paymentDate === undefined ? {} : { paymentDate: `${paymentDate}/2027` };
      await client.makePayments({ payments: [{ ...payer, ...dated, paymentMethod: 'Bank' }] });
    },
    async bill(day: string, visits: Partial<Record<Name, number>> = {}) {
      const start = dateOf(day).with({ day: 1 }).subtract({ months: 1 });
      const end = start.add({ months: 1 }).subtract({ days: 1 });
      const dueDate = wire(dateOf(day).with({ day: 15 }));
      const days = { startDate: wire(start), endDate: wire(end), dueDate };
      const termID = await newTerm(client, { serviceCode: offer.serviceCode, ...days });
      await client.postMeterReadings({
        operation: 'schedule',
        data: { termID, reading: 'current' },
      });
      for (const [name, amount] of Object.entries(visits)) {
        const compsData = [[homes[name as Name], 'visit', String(amount)]];
        await client.postManualComponentValues({
          operation: 'schedule',
          data: { data: JSON.stringify({ termID, compsData }) },
        });
      }
      return finish(termID);
    },
  };
}

function dateOf(day: string): Temporal.PlainDate {
  const [date = '', month = '', year = '2027'] = day.split('/');
  return Temporal.PlainDate.from(`${year}-${month}-${date}`);
}

function wire(date: Temporal.PlainDate): string {
  return date.toString().split('-').reverse().join('/');
}
