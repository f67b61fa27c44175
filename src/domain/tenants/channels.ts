// The ways in which a bill reaches a customer.

export const deliveryChannels = ['Email', 'SMS', 'WhatsApp', 'Portal', 'Print', 'Webhook'] as const;
export type Channel = (typeof deliveryChannels)[number];
