"""Passwords that are long enough but among the first guesses, in lower case. Shorter ones are refused anyway."""

from typing import Final

_LISTED: Final = """
    000000000000 111111111111 112233445566 121212121212 123123123123 1234567890ab 123456789012 1234567890123
    12345678901234 123456789abc 1234567890qwerty 123456789123 123456789qwerty 1q2w3e4r5t6y 1q2w3e4r5t6y7u
    1q2w3e4r5t6y7u8i 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qazxsw23edc aaaaaaaaaaaa abc123abc123 abcd1234abcd abcd1234efgh
    abcdefghijkl abcdefghijklm abcdefgh1234 adminadmin12 adminadminadmin administrator administrator1 admin1234567
    admin12345678 admin@123456 asdfghjkl123 asdfghjkl;'\\ asdfasdfasdf asdfghjklzxcvbnm changeme1234 changemenow1
    changemechangeme correcthorsebatterystaple football1234 iloveyou1234 iloveyouiloveyou iloveyousomuch letmein12345
    letmein123456 letmeinletmein letmeinplease liverpool123 manchesterunited mcpguard1234 mcpguardmcpguard
    monkey123456 mypassword12 mypassword123 newpassword1 newpassword12 p@ssw0rd1234 p@ssword1234 passw0rd1234
    passw0rd123! password1234 password12345 password123! password1234! password123456 password@123 passwordpassword
    passwordpassword1 princess1234 qazwsxedcrfv qweasdzxc123 qwerty123456 qwerty1234567 qwertyqwerty qwerty12345!
    qwertyuiop12 qwertyuiop123 qwertyuiop1234 qwertyuiopasdf qwertyuiop[] rootrootroot secret123456 superman1234
    test12345678 testtesttest trustno1trustno1 unbelievable welcome12345 welcome123456 welcome@1234 whatever1234
    zxcvbnm12345 zxcvbnmasdfghjkl zaq12wsxcde3
"""
COMMON: Final = frozenset(_LISTED.split())
