// A house with a meter, whose owner may leave.
import { openOffer } from './offer-place.ts';
import type { Scene } from './scene.ts';
import { newMeter, newParty } from './subscriptions.ts';

export const fee = { component: 'fee', formula: '310', prorate: 'Days' as const };

let made = 0;

/** 310 a month and 10 a unit; billed through June, the meter showing 0 on its last day. */
export async function openHouse(scene: Scene, service: object = {}, tariff: object = {}) {
  made += 1;
  const run = await openOffer(
    scene,
    `house-${made}`,
    {
      meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', sequence: 2 },
        { name: 'energyCharge', label: 'Energy', type: 'Charge', sequence: 1 },
      ],
      ...service,
    },
    {
      componentRules: [
        fee,
        { component: 'energyCharge', scope: 'Term', formula: 'usage.energy * 10' },
      ],
      usageData: [{ input: 'energy', source: 'Metered', required: 1 }],
      ...tariff,
    },
    'Old',
  );
  const { client, offer, open } = run;
  const number = await newMeter(client);
  const meters = [{ number, installDate: '30/06/2026', initialReading: '0' }];
  const connection = await run.connectOld({ meters });
  return {
    run,
    client,
    offer,
    number,
    connection,
    open,
    /** A term for this customer alone. */
    openFor: (type: 'OffCycle' | 'Final', days: object) =>
      open({ ...days, type, connectionNumbers: [connection] }),
    read: (value: string, readingDate: string) =>
      client.makeReadings({ readings: [{ number, value, readingDate }] }),
    lock: (termID: number, reading = 'current') =>
      client.postMeterReadings({ operation: 'schedule', data: { termID, reading } }),
    moveOut: async (transferDate: string, value?: string) => {
      const data = {
        connectionNumber: connection,
        transferDate,
        toPartyNumber: await newParty(client, 'Next'),
        connectionGroupLabel: 'Next house',
        ...(value === undefined ? {} : { readings: [{ number, value }] }),
      };
      await client.transferConnection({ data });
    },
    changePlan: (tariffCode: string, effectiveDate: string) =>
      client.changeTariff({ data: { connectionNumber: connection, tariffCode, effectiveDate } }),
  };
}
