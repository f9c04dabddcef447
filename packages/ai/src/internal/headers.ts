/**
 * Returns whether a header can have this value. Checked before `fetch` sees it, because the message of its refusal
 * quotes the value, key and all.
 */
export const isSendable = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
