// Customers who owe bills of given amounts, and what is left of them.
import { billsOf, generate, post, type ShownBill } from './bill-run.ts';
import { type OfferPlace, openOffer } from './offer-place.ts';
import type { Service } from './pricing.ts';
import type { Scene } from './scene.ts';

export type Owing = OfferPlace & {
  /** Bills July 2026, August and so on; each subscription with its amount, or by component. */
  bill(amounts: Record<string, number | Record<string, number>>): Promise<ShownBill[]>;
  /** A term for the next of these months, with the amounts. Returns its id. */
  openMonth(amounts: Record<string, number | Record<string, number>>): Promise<number>;
  /** What is open of each bill of the customer, the oldest first. */
  left(): Promise<(number | undefined)[]>;
  wallet(partyNumber?: number): Promise<number>;
  owed(partyNumber?: number): Promise<number>;
  pay(payment: Partial<Payment>): Promise<number>;
  /** Moves the clock of the workspace ahead to noon of a day, such as 2027-01-31. */
  goTo(date: string): Promise<void>;
};

type Payment = Parameters<Owing['client']['makePayments']>[0]['payments'][number];

let references = 0;

const feeAndRebate = [
  { name: 'fee', label: 'Fee', type: 'Charge', manual: 'Optional' },
  { name: 'rebate', label: 'Rebate', type: 'Discount', manual: 'Optional' },
];

function byComponent(amount: number | Record<string, number>): Record<string, number> {
  if (typeof amount !== 'number') return amount;
  return amount < 0 ? { rebate: amount } : { fee: amount };
}

/** Amounts of bills are given by hand; below zero they are a rebate. */
export async function openOwing(
  scene: Scene,
  workspace: string,
  service: Partial<Service> = {},
): Promise<Owing> {
  const components = (service.components ?? feeAndRebate) as { name: string }[];
  const place = await openOffer(
    scene,
    workspace,
    { autoApplyWallet: 0, ...service, components } as Partial<Service>,
    { componentRules: components.map(({ name: component }) => ({ component, formula: '0' })) },
    undefined,
    { sandbox: true },
  );
  const { client } = place;
  let months = 0;
  const openMonth: Owing['openMonth'] = async (amounts) => {
    const start = Temporal.PlainDate.from('2026-07-01').add({ months });
    months += 1;
    const end = start.add({ months: 1 }).subtract({ days: 1 });
    const dueDate = wire(end.add({ days: 15 }));
    const days = { startDate: wire(start), endDate: wire(end), dueDate };
    const termID = await place.open(days);
    const compsData = Object.entries(amounts).flatMap(([number, amount]) =>
      Object.entries(byComponent(amount)).map(([component, value]) => {
        return [number, component, String(value)];
      }),
    );
    await client.postManualComponentValues({
      operation: 'schedule',
      data: { data: JSON.stringify({ termID, compsData }) },
    });
    return termID;
  };
  const view = async (partyNumber = place.party) => (await client.getUsers({ partyNumber })).data;
  return {
    ...place,
    openMonth,
    async bill(amounts) {
      const termID = await openMonth(amounts);
      await generate(place, termID);
      await post(place, termID);
      return billsOf(place, termID);
    },
    async left() {
      const { data } = await client.getBills({});
      return data.bills
        .toSorted((a, b) => (a.billID ?? 0) - (b.billID ?? 0))
        .map((one) => one.outstandingAmount);
    },
    async wallet(partyNumber) {
      return (await view(partyNumber)).user.walletAccount?.balance ?? 0;
    },
    async owed(partyNumber) {
      return (await view(partyNumber)).user.outstandingAccount?.balance ?? 0;
    },
    async pay(payment) {
      references += 1;
      const usual = { reference: `R${references}`, amount: 0, paymentMethod: 'Cash' } as const;
      const payer = hasPayer(payment) ? {} : { partyNumber: place.party };
      const { headers } = await client.makePayments({
        payments: [{ ...usual, ...payer, ...payment }],
      });
      return Number(headers.get('x-resource-id'));
    },
    async goTo(date) {
      await client.moveClock({ data: { to: `${date}T12:00:00` } });
    },
  };
}

function hasPayer(payment: Partial<Payment>): boolean {
  const { partyID, partyNumber, connectionNumber, billRefNo } = payment;
  return [partyID, partyNumber, connectionNumber, billRefNo].some((key) => key !== undefined);
}

function wire(date: Temporal.PlainDate): string {
  return date.toString().split('-').reverse().join('/');
}
