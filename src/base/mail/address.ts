// What is accepted as an address of a mail: local@domain and nothing more. Comments, quotes, lists
// and display names are read in different ways by mail software, and have led it to others.

const plainAddress =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})+$/;
const addressCharactersMax = 254;

export function isPlainAddress(text: string): boolean {
  return text.length <= addressCharactersMax && plainAddress.test(text);
}
