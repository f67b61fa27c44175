// A workspace with a fee of 310 a month, billed in advance. Use it for tests of terms that are
// unposted, skipped or caught up on.

import { generate, type ShownBill } from './bill-run.ts';
import { type july, type OfferPlace, openOffer } from './offer-place.ts';
import type { Scene } from './scene.ts';

export const fee = (formula: string) => [{ component: 'fee', formula, prorate: 'Days' as const }];

export const postTypes = ['Post Subscription', 'Post Account', 'Post Party'] as const;
type PostType = (typeof postTypes)[number];

let places = 0;

/** A fee of 310 a month, billed in advance. */
export function openPlace(
  scene: Scene,
  postType: PostType,
  changed: { postBilling?: 1 } = {},
): Promise<OfferPlace> {
  places += 1;
  const components = [{ name: 'fee', label: 'Fee', type: 'Charge', manual: 'Optional' }] as const;
  return openOffer(
    scene,
    `place-${places}`,
    { postType, postBilling: 0, components: [...components], ...changed },
    { componentRules: fee('310') },
  );
}

export async function generatedOver(place: OfferPlace, days: typeof july): Promise<number> {
  const termId = await place.open(days);
  await generate(place, termId);
  return termId;
}

export function raisePrice({ client, offer }: OfferPlace, effectiveDate: string) {
  const { serviceCode, tariffCode: code } = offer;
  const componentRules = fee('620');
  return client.updateTariff({ tariff: { serviceCode, code, componentRules, effectiveDate } });
}

export const linesOf = (bill: ShownBill | undefined) =>
  bill?.lines.map((line) => [line.lineType, line.fromDate, line.toDate, line.amount]);
