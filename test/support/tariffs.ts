// The worked tariffs, saved through the API.
import type { RequestOf } from '../../sdk/client.ts';
import type { TariffCase } from '../rating/tariff-cases.ts';
import type { TestClient } from './client.ts';

type Service = RequestOf<'createService'>['service'];
type Tariff = RequestOf<'createTariff'>['tariff'];

export async function saveTariffs(
  client: TestClient,
  one: TariffCase,
  changed: Partial<Service> = {},
): Promise<void> {
  await client.createService({ service: { ...(one.service as unknown as Service), ...changed } });
  for (const tariff of inOrder(one.tariffs as unknown as Tariff[])) {
    await client.createTariff({ tariff });
  }
}

/** Parents before the plans that inherit from them. */
function inOrder(plans: readonly Tariff[]): Tariff[] {
  const depth = (plan: Tariff): number => {
    const parent = plans.find((other) => other.code === plan.parentTariffCode);
    return parent ? depth(parent) + 1 : 0;
  };
  return [...plans].sort((a, b) => depth(a) - depth(b));
}
