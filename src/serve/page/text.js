// Texts for people: untrusted text made visible, figures, durations, dates. The figures read as in
// reports (src/report/figure.c).

// Control characters, invisible characters, and those that change the direction of text: the table
// of text_is_unsafe() in src/util/text/text.c, without newline and tab.
const UNSAFE = new RegExp(
	'[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5' +
		'\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0' +
		'\\ufff0-\\ufffb\\u{e0000}-\\u{e0fff}]',
	'gu',
);

/** Returns the text with unsafe characters as \u{202e}. */
export function visible(text) {
	return text.replace(UNSAFE, (found) => `\\u{${found.codePointAt(0).toString(16)}}`);
}

export function plural(count, word) {
	return `${figure(count)} ${word}${count === 1 ? '' : 's'}`;
}

/** Returns a count such as "12,345" or "1.20 M". */
export function figure(count) {
	if (count >= 1e9) return `${(count / 1e9).toFixed(2)} G`;
	if (count >= 1e6) return `${(count / 1e6).toFixed(2)} M`;
	return String(Math.round(count)).replace(/(\d)(\d{3})$/, '$1,$2');
}

/** Returns an amount of nano-dollars such as "$0.0285" or "$12.30". */
export function usd(nano) {
	const amount = nano / 1e9;

	return `$${amount.toFixed(nano > 0 && amount < 1 ? 4 : 2)}`;
}

/** Returns a duration such as "8.2 s", "3m 20s" or "2h 5m". */
export function duration(ms) {
	const seconds = Math.floor(Math.max(0, ms) / 1000);
	const units = [
		[Math.floor(seconds / 86400), 'd'],
		[Math.floor(seconds / 3600) % 24, 'h'],
		[Math.floor(seconds / 60) % 60, 'm'],
		[seconds % 60, 's'],
	];

	if (ms < 10000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
	if (seconds < 60) return `${seconds} s`;
	const first = units.findIndex(([count]) => count > 0);
	return units
		.slice(first, first + 2)
		.filter(([count]) => count > 0)
		.map(([count, unit]) => count + unit)
		.join(' ');
}

/** The same without fractions, for a clock that ticks. */
export function clock(ms) {
	return ms < 60000 ? `${Math.floor(Math.max(0, ms) / 1000)} s` : duration(ms);
}

export function bytes(count) {
	if (count < 1024) return `${count} B`;
	if (count < 1 << 20) return `${Math.floor(count / 1024)} KiB`;
	if (count < 2 ** 30) return `${Math.floor(count / (1 << 20))} MiB`;
	return `${(count / 2 ** 30).toFixed(1)} GiB`;
}

/** Returns a date and time such as "2026-11-19 02:37", in the time zone of the browser. */
export function moment(ms) {
	const at = new Date(ms);
	const two = (number) => String(number).padStart(2, '0');

	return ms > 0
		? `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ` +
				`${two(at.getHours())}:${two(at.getMinutes())}`
		: '-';
}

export function age(ms) {
	const seconds = Math.floor(ms / 1000);

	if (seconds < 60) return 'just now';
	if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
	return seconds < 2 * 86400
		? `${Math.floor(seconds / 3600)} h ago`
		: `${Math.floor(seconds / 86400)} days ago`;
}
