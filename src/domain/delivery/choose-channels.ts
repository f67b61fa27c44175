// By which channels a bill goes to its party, and where to.
import { isPlainAddress } from '../../base/mail/address.ts';
import { type Channel, deliveryChannels } from '../tenants/channels.ts';

export type Reach = {
  email: string | null;
  contacts: readonly { contactType: string; contactValue: string }[];
  /** Null where the workspace decides. */
  channels: readonly Channel[] | null;
};

/** Stored before addresses of this kind were looked at. */
const noAddress = 'This is not an e-mail address; give the party another and distribute again';

export type Route = {
  channel: Channel;
  recipient: string | null;
  /** Why the channel does not reach the party, if an operator should see it. */
  problem?: string;
};

/**
 * If a party has chosen channels, its bill goes out by each of them that reaches it. For other
 * parties, and if none reaches it, the first channel of the workspace that does is used. A party
 * without an address is not a failure: the portal shows every published bill. An invalid address
 * counts as a failed delivery and is reported, together with the channel used instead.
 */
export function chooseRoutes(reach: Reach, ofWorkspace: readonly Channel[]): Route[] {
  const wanted = new Set(reach.channels ?? []);
  const routes = deliveryChannels
    .filter((channel) => wanted.has(channel))
    .flatMap((channel) => routeBy(channel, reach) ?? []);
  const portal: Route = { channel: 'Portal', recipient: null };
  const others = ofWorkspace.flatMap((channel) => routeBy(channel, reach) ?? []);
  for (const route of [...others, portal]) {
    if (routes.some(leadsThere)) break;
    if (!routes.some(({ channel }) => channel === route.channel)) routes.push(route);
  }
  return routes;
}

function leadsThere({ problem }: Route): boolean {
  return problem === undefined;
}

function routeBy(channel: Channel, reach: Reach): Route | undefined {
  const contact = (...types: string[]) =>
    types.flatMap((type) => reach.contacts.filter((one) => one.contactType === type))[0];
  switch (channel) {
    case 'Email': {
      const others = reach.contacts.filter((one) => one.contactType === 'Email');
      const given = [reach.email ?? '', ...others.map((one) => one.contactValue)];
      const addresses = given.filter((address) => address !== '');
      const recipient = addresses.find(isPlainAddress);
      if (recipient !== undefined) return { channel, recipient };
      const [wrong] = addresses;
      return wrong === undefined ? undefined : { channel, recipient: wrong, problem: noAddress };
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
