// A street of metered houses that another system has billed through June 2026.
import { type OfferPlace, openOffer } from './offer-place.ts';
import type { Scene } from './scene.ts';
import { newMeter } from './subscriptions.ts';

export type MeteredHouse = { number: number; connection: string };
export type MeteredStreet = { place: OfferPlace; houses: MeteredHouse[] };

/** 10 a unit and a fee by hand; each house with the reading that its meter begins with. */
export async function openStreet(
  scene: Scene,
  workspace: string,
  initial: readonly string[],
): Promise<MeteredStreet> {
  const place = await openOffer(
    scene,
    workspace,
    {
      bankAccounts: [{ title: 'Collections', bankName: 'First Bank', accountNumber: 'XX11BANK01' }],
      meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
      components: [
        { name: 'energyCharge', label: 'Energy', type: 'Charge', sequence: 1 },
        { name: 'fee', label: 'Fee', type: 'Charge', manual: 'Optional', sequence: 2 },
      ],
    },
    {
      componentRules: [
        { component: 'energyCharge', scope: 'Term', formula: 'usage.energy * 10' },
        { component: 'fee', formula: '0' },
      ],
      usageData: [{ input: 'energy', source: 'Metered', required: 1 }],
    },
    'Asma Khan',
    { sandbox: true },
  );
  const houses: MeteredHouse[] = [];
  for (const [index, initialReading] of initial.entries()) {
    const number = await newMeter(place.client);
    const connection = await place.connectOld({
      meters: [{ number, installDate: '30/06/2026', initialReading }],
      address: { street: 'Canal Road', buildingNo: String(index + 1), city: 'Lahore' },
    });
    houses.push({ number, connection });
  }
  return { place, houses };
}
