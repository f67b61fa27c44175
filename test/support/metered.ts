// A workspace with a service, a party and as many subscriptions and meters as a test asks for.
import type { RequestOf } from '../../sdk/client.ts';
import type { TestClient } from './client.ts';
import { insertSubscriptions } from './plain-subscription.ts';
import { newService, newTariff, type Service } from './pricing.ts';
import type { Scene } from './scene.ts';

export type FrozenMeter = Partial<RequestOf<'makeMeters'>['meters'][number]>;

export type Metered = {
  admin: TestClient;
  tenantId: number;
  serviceCode: string;
  /** Registers a meter and returns its number. */
  newMeter(facts?: FrozenMeter): Promise<number>;
  /** Makes a subscription, connected on 01/01/2026, and returns its number. */
  newSubscription(facts?: { connectionDate?: string; billedThrough?: string }): Promise<string>;
  /** A subscription with a meter installed since 01/01/2026, with this first reading. */
  hung(facts?: FrozenMeter & { value?: string }): Promise<{ connection: string; number: number }>;
};

/** Dates of tests lie in 2026, which is over: the clock is moved to where it is. */
export async function openMetered(
  scene: Scene,
  workspace: string,
  service: Partial<Service> = {},
): Promise<Metered> {
  scene.clock.begin(Temporal.Instant.from('2027-01-01T00:00:00Z'));
  const admin = await scene.workspace(workspace);
  const { rows } = await scene.sql.query<{ id: string }>('select find_workspace($1) as id', [
    workspace,
  ]);
  const tenantId = Number(rows[0]?.id);
  await admin.makeUsers({ userType: 'customer', users: [{ name: 'Asma Khan' }] });
  await admin.updateUser({
    user: { partyID: 1, connectionGroups: [{ connectionGroupLabel: 'House 1' }] },
  });
  const serviceCode = await newService(admin, service);
  await newTariff(admin, serviceCode);
  let lastNumber = 1_000;
  const newMeter = async (facts: FrozenMeter = {}) => {
    lastNumber += 1;
    const number = facts.number ?? lastNumber;
    const plain = { brand: 'Itron', meterType: 1, mf: 1 };
    await admin.makeMeters({
      meters: [{ ...plain, purchaseDate: '15/01/2024', ...facts, number }],
    });
    return number;
  };
  const newSubscription: Metered['newSubscription'] = async (facts = {}) => {
    const [made] = await insertSubscriptions(scene, tenantId, 1, facts);
    return made?.number ?? '';
  };
  return {
    admin,
    tenantId,
    serviceCode,
    newMeter,
    newSubscription,
    hung: async ({ value = '0', ...facts } = {}) => {
      const [connection, number] = [await newSubscription(), await newMeter(facts)];
      await admin.assignMeter({
        data: {
          connectionNumber: connection,
          number,
          installDate: '01/01/2026',
          initialReadings: [{ value }],
        },
      });
      return { connection, number };
    },
  };
}
