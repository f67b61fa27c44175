// The mobile number that forms show, among all contacts of a party.

type Contact = { contactType: string; contactValue: string };

const isMobile = ({ contactType }: Contact) => contactType === 'Mobile';

/** The first one, which text messages are sent to. */
export function mobileOf(contacts: readonly Contact[]): string {
  return contacts.find(isMobile)?.contactValue ?? '';
}

/** The contacts with another first mobile number; undefined if the number is the same. */
export function contactsWith(contacts: readonly Contact[], mobile: string): Contact[] | undefined {
  if (mobile === mobileOf(contacts)) return undefined;
  const place = contacts.findIndex(isMobile);
  const given = mobile === '' ? [] : [{ contactType: 'Mobile', contactValue: mobile }];
  if (place < 0) return [...contacts, ...given];
  return contacts.toSpliced(place, 1, ...given);
}
