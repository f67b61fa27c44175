// The columns of each kind of file. A test compares them with those of the server.

const address = [
  'addressTitle',
  'shopNo',
  'buildingNo',
  'buildingName',
  'street',
  'block',
  'society',
  'city',
  'countryId',
];
const party = [
  ...['partyNumber', 'userType', 'name', 'email', 'country', 'mobile', 'phone', 'whatsApp'],
  ...['otherEmail', 'fax', 'otherContact', 'identityNumber', 'taxNumber', 'language'],
  ...address,
];
const subscription = [
  ...['connectionNumber', 'connectionRefNo', 'serviceCode', 'tariffCode', 'batchCode', 'postType'],
  ...['connectionGroupLabel', 'connectionDate', 'billedThrough', 'status', 'description'],
  ...['paymentMethod', 'projectName', 'addons', 'receivable', 'advance', 'securityDeposit'],
  ...['meterNumber', 'installDate', 'initialReading', 'meteredInput', 'register'],
];

export const importKinds = {
  Parties: { permissions: ['parties:write'], required: ['name'], columns: party },
  Meters: {
    permissions: ['meters:write'],
    required: ['number', 'brand', 'meterType', 'purchaseDate'],
    columns: ['number', 'brand', 'meterType', 'purchaseDate', 'mf'],
  },
  Subscriptions: {
    permissions: ['subscriptions:write'],
    required: ['serviceCode', 'tariffCode', 'partyNumber'],
    columns: [...subscription, 'partyNumber', ...address],
  },
  Readings: {
    permissions: ['readings:write'],
    required: ['number', 'value', 'readingDate'],
    columns: [
      ...['number', 'register', 'value', 'readingDate', 'readingTime', 'readingType', 'source'],
      ...['remark', 'imageUrl', 'externalRef', 'rollover', 'connectionNumber'],
    ],
  },
  Customers: {
    permissions: ['parties:write', 'subscriptions:write', 'meters:write'],
    required: ['name', 'serviceCode', 'tariffCode'],
    columns: [
      ...party,
      ...subscription,
      ...['meterType', 'meterBrand', 'meterPurchaseDate', 'meterMf'],
    ],
  },
  OpenItems: {
    permissions: ['credits:write'],
    required: ['reference', 'amount'],
    columns: [
      ...['reference', 'kind', 'partyNumber', 'connectionNumber', 'issueDate', 'dueDate'],
      ...['amount', 'component', 'description'],
    ],
  },
} as const satisfies Record<
  string,
  { permissions: readonly string[]; required: readonly string[]; columns: readonly string[] }
>;

export type ImportKind = keyof typeof importKinds;

const plain = (name: string) => name.toLowerCase().replaceAll(/[\s_-]/g, '');

/** The column that a header names; custom fields keep their name, others are not known. */
export function columnFor(kind: ImportKind, header: string): string | null {
  const { columns } = importKinds[kind];
  const known = (columns as readonly string[]).find((column) => plain(column) === plain(header));
  if (known !== undefined) return known;
  const hasCustom = kind === 'Subscriptions' || kind === 'Customers';
  return hasCustom && /^(input|quantity)\./.test(header) ? header : null;
}
