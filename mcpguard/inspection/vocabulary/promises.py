"""What is said so that somebody does as they are told: praise of oneself, urgency, authority, threats."""

from typing import Final

WORDS: Final = {
    "BEST": """
        best most_reliable most_accurate most_trusted most_trustworthy only_reliable only_trusted only_trustworthy
        most_secure highest_quality superior unmatched unrivaled ultimate gold_standard top_choice first_choice
        preferred_tool preferred_choice number_one officially_recommended officially_endorsed endorsed_by
        recommended_by official most_powerful most_effective most_efficient
        better_than_any better_than_all outperforms faster_than_any
        beste besten zuverlässigste bestes meilleur meilleure plus_fiable mejor más_fiable más_confiable
        最好 最佳 最可靠 最准确 首选 唯一可靠 лучш* самый_надежный самый_точный 最高 最良 最適 최고
    """,
    "PREFER": """
        prefer prefers preferred prioritize prioritise choose select pick favor favour favoured use rely_on
        bevorzuge wähle nutze préfère préférez choisis choisissez privilégie prefiere prefiera elige elija prioriza
        优先 选择 首选 优先使用 предпочита* выбирай* используй* 優先 選択 우선
    """,
    "WORSE": """
        deprecated unreliable insecure outdated inferior obsolete incomplete broken unsafe untrustworthy inaccurate
        compromised less_accurate less_reliable malicious vulnerable slower
        veraltet unsicher unzuverlässig obsolète peu_fiable inseguro obsoleto poco_fiable 过时 不可靠 不安全 已弃用
        устарел* ненадежн* небезопасн*
    """,
    "URGENT": """
        urgent urgently immediately at_once critical_security emergency right_away without_delay asap time_sensitive
        dringend sofort umgehend immédiatement urgente inmediatamente 紧急 立即 马上 срочно немедленно
        緊急 直ちに 긴급 즉시
    """,
    "AUTHORITY": """
        security_team system_administrator administrator_requires compliance_requirement compliance_requirements
        compliance_purposes regulatory_requirement security_protocol security_policy_requires company_policy
        required_by_law legal_requirement mandated_by authorized_by approved_by_the official_policy
        security_requirement
        security_audit audit_purposes security_verification security_check security_validation pre_approved
        already_approved has_agreed has_consented has_authorized already_authorized verification_purposes
        debugging_purposes for_verification routing_protocol protocol_requirement system_requirement system_requires
        sicherheitsteam administrator sicherheitsprotokoll équipe_de_sécurité administrateur protocole_de_sécurité
        equipo_de_seguridad administrador protocolo_de_seguridad 安全团队 管理员 合规要求 安全协议 安全检查
        служба_безопасности администратор протокол_безопасности требования_безопасности セキュリティチーム 管理者
    """,
}
