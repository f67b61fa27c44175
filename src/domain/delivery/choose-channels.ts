// By which channels a bill goes to its party, and where to.
import { isPlainAddress } from '../../base/mail/address.ts';
import { type Channel, deliveryChannels } from '../tenants/channels.ts';

export type Reach = {
  email: string | null;
  contacts: readonly { contactType: string; contactValue: string }[];
  /** Null where the workspace decides. */
  channels: readonly Channel[] | null;
};

export type Route = { channel: Channel; recipient: string | null };

/**
 * A party that has chosen gets its bill by each channel of its choice that leads to it. For all
 * others, and where none does, the first of the workspace's channels that leads there is taken.
 * That somebody has no address is no failure: the portal shows every published bill.
 */
export function chooseRoutes(reach: Reach, ofWorkspace: readonly Channel[]): Route[] {
  const wanted = new Set(reach.channels ?? []);
  const chosen = deliveryChannels
    .filter((channel) => wanted.has(channel))
    .flatMap((channel) => routeBy(channel, reach) ?? []);
  if (chosen.length > 0) return chosen;
  for (const channel of ofWorkspace) {
    const route = routeBy(channel, reach);
    if (route !== undefined) return [route];
  }
  return [{ channel: 'Portal', recipient: null }];
}

function routeBy(channel: Channel, reach: Reach): Route | undefined {
  const contact = (...types: string[]) =>
    types.flatMap((type) => reach.contacts.filter((one) => one.contactType === type))[0];
  switch (channel) {
    case 'Email': {
      const others = reach.contacts.filter((one) => one.contactType === 'Email');
      const addresses = [reach.email ?? '', ...others.map((one) => one.contactValue)];
      const recipient = addresses.find(isPlainAddress);
      return recipient === undefined ? undefined : { channel, recipient };
    }
    case 'SMS':
      return through(channel, contact('Mobile')?.contactValue);
    case 'WhatsApp':
      return through(channel, contact('WhatsApp', 'Mobile')?.contactValue);
    default:
      return { channel, recipient: null };
  }
}

function through(channel: Channel, recipient: string | undefined): Route | undefined {
  return recipient === undefined ? undefined : { channel, recipient };
}
