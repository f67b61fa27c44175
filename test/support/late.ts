// Customers who pay late: bills of given amounts with a surcharge of 10 %, on a clock that moves.
import { billsOf, generate, post, type ShownBill } from './bill-run.ts';
import { doDailyWork } from './daily-work.ts';
import { schedule } from './delivery.ts';
import { type OfferPlace, openOffer } from './offer-place.ts';
import type { Service } from './pricing.ts';
import { adminPassword, type Scene } from './scene.ts';

export type Late = OfferPlace & {
  /** The number of the subscription. */
  number: string;
  /** Moves the clock to this local time and does what falls due until then: "16/08 00:30". */
  on(time: string): Promise<void>;
  /** A published bill that is due on this day: "15/08". Each bills a month. */
  bill(amount: number, dueDate: string): Promise<ShownBill>;
  /** Returns the id of the payment. */
  pay(amount: number, paymentDate?: string): Promise<number>;
  /** The bill as it is now. */
  shown(bill: ShownBill): Promise<ShownBill>;
  /** Owed by the customer, and in the wallet. */
  money(): Promise<{ owed: number; wallet: number }>;
};

const zone = 'Asia/Karachi';
let references = 0;

/** All days are of the year, which must not be before that of other stories on the same scene. */
export async function openLate(
  scene: Scene,
  workspace: string,
  year: number,
  service: Record<string, unknown> = {},
  { termYear = 2026 }: { termYear?: number } = {},
): Promise<Late> {
  const place = await openLateOffer(scene, workspace, service);
  const { client } = place;
  const on = async (time: string) => {
    const [day = '', clock = '12:00'] = time.split(' ');
    const local = `${dateOf(year, day)}T${clock}`;
    const at = Temporal.PlainDateTime.from(local).toZonedDateTime(zone).toInstant();
    scene.clock.begin(at);
    await doDailyWork(scene, place.tenantId);
    const username = `admin@${workspace}.example`;
    const { data } = await client.login({ username, password: adminPassword });
    client.useToken(data.accessToken);
  };
  await on('01/08');
  const days = { connectionDate: `0106${termYear}`, billedThrough: `3006${termYear}` };
  const number = await place.connectOld(days);
  let month = 6;
  return {
    ...place,
    number,
    on,
    async bill(amount, dueDate) {
      month += 1;
      const start = Temporal.PlainDate.from({ year: termYear, month, day: 1 });
      const end = start.add({ months: 1 }).subtract({ days: 1 });
      const dates = { startDate: wire(start), endDate: wire(end), dueDate: `${dueDate}/${year}` };
      const termID = await place.open(dates);
      const compsData = [[number, 'fee', String(amount)]];
      await client.postManualComponentValues({
        operation: 'schedule',
        data: { data: JSON.stringify({ termID, compsData }) },
      });
      await generate(place, termID);
      await post(place, termID);
      await client.publishBills(schedule(termID));
      return (await billsOf(place, termID))[0] as ShownBill;
    },
    async pay(amount, paymentDate) {
      references += 1;
      const { headers } = await client.makePayments({
        payments: [
          {
            reference: `L${references}`,
            partyNumber: place.party,
            amount,
            paymentMethod: 'Cash',
            ...(paymentDate === undefined ? {} : { paymentDate: `${paymentDate}/${year}` }),
          },
        ],
      });
      return Number(headers.get('x-resource-id'));
    },
    async shown({ billID }) {
      const { data } = await client.getBills({ billID });
      return data.bills[0] as ShownBill;
    },
    async money() {
      const { user } = (await client.getUsers({ partyNumber: place.party })).data;
      const owed = user.outstandingAccount?.balance ?? 0;
      return { owed, wallet: user.walletAccount?.balance ?? 0 };
    },
  };
}

function openLateOffer(
  scene: Scene,
  workspace: string,
  service: Record<string, unknown>,
): Promise<OfferPlace> {
  return openOffer(
    scene,
    workspace,
    {
      autoApplyWallet: 0,
      minimumDaysToPay: 0,
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', manual: 'Optional' },
        {
          name: 'late',
          label: 'Late payment surcharge',
          type: 'LateSurcharge',
          rounding: { scale: 0, mode: 'HalfUp' },
        },
      ],
      ...service,
    } as Partial<Service>,
    {
      chargeType: service.chargingType === 'Prepaid' ? 'Prepaid' : 'Postpaid',
      componentRules: [
        { component: 'fee', formula: '0' },
        { component: 'late', scope: 'Term', formula: 'bill.current * 0.10' },
      ],
    },
  );
}

function dateOf(year: number, day: string): string {
  return `${year}-${day.split('/').reverse().join('-')}`;
}

function wire(date: Temporal.PlainDate): string {
  return date.toString().split('-').reverse().join('/');
}
